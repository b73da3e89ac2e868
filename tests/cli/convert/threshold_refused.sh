# What is no threshold, or found in no profile, is refused before the matrix is read.
refused() {
  local code=0
  sptile convert missing.mtx out.h5 --format "$1" "${@:2}" || code=$?
  echo "$code"
}
refused libra_spmm:0
refused libra_spmm:10
refused libra_sddmm:130
refused libra_sddmm:some
refused tall:auto
refused libra_spmm:1,libra_spmm:2
refused tall:64 --device cuda
printf 'sptile-profile 1\ndevice cuda 90 some device\nnumber cuda.libra_spmm.mma tf32 threshold_128 2.5\n' > profile.tsv
export SPTILE_PROFILE=profile.tsv
refused libra_spmm:auto
refused libra_sddmm:auto
