# auto takes the threshold that the profile has for 128 columns, and says which.
cat > profile.tsv <<'END'
sptile-profile 1
device cuda 90 some device
number cuda.libra_spmm.mma tf32 threshold_512 7
number cuda.libra_spmm.mma tf32 threshold_32 8
number cuda.libra_spmm.mma fp16 threshold_128 2
number cuda.libra_sddmm.sddmm any threshold_128 40
END
export SPTILE_PROFILE=profile.tsv
sptile convert "$ROOT/data/examples/blocks.mtx" out.h5 --format libra_spmm:auto,libra_sddmm:auto |
  sed 's/  */ /g'  # columns are as wide as times are
for dtype in f16 bf16 f64; do
  sptile convert "$ROOT/data/examples/blocks.mtx" out.h5 --force --format libra_spmm:auto --dtype $dtype --json |
    jq -c '.formats[1] | [.parameters.threshold, .threshold_from]'
done
# What is stored of the format does not tell how the threshold was found; /choices does.
sptile convert "$ROOT/data/examples/blocks.mtx" auto.h5 --format libra_spmm:auto -q
sptile convert "$ROOT/data/examples/blocks.mtx" eight.h5 --format libra_spmm:8 -q
for bundle in auto eight; do
  sptile info $bundle.h5 --json | jq '[.arrays[] | select(.path != "/choices")]' > $bundle.json
done
cmp auto.json eight.json
sptile info auto.h5 --json | jq -r '.choices[]'
