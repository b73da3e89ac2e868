# The model decides by the profile that is named; what is not stored and what has no kernel is said.
export XDG_CONFIG_HOME=$PWD
sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q --format bittcf,bmat
{
  printf 'sptile-profile 1\ndevice cpu 0 test\n'
  for isa in generic avx2 avx512 neon sve; do
    printf 'number cpu.csr.%s fp32 launch 20\nnumber cpu.bmat.%s fp32 launch 10\n' $isa $isa
  done
} > profile.tsv
SPTILE_PROFILE=profile.tsv sptile run a.h5 --explain -n 4 > explained
sed -E 's/cpu\.([a-z]+)\.(generic|avx2|avx512|neon|sve) */cpu.\1 /; s/ +/ /g; /^$/q' explained > rows
head -4 rows
grep '^me_tcf ' rows
# Every other format with a kernel for this product is named as not stored, too.
sptile list kernels --json |
  jq -r '[.kernels[] | select(.op == "spmm" and .device == "cpu") | .format] | unique - ["csr", "bittcf", "bmat"] | .[]' |
  while read -r format; do
    grep -qx "$format - - - - not stored in the bundle" rows || echo "$format is missing"
  done
SPTILE_PROFILE=profile.tsv sptile run a.h5 -n 4 --json |
  json-has 'format="bmat"' predicted_us=10 'candidates[].format' 'candidates[].kernel' 'candidates[].chosen'
# Measured, each that is known to take less than 3 times the best one.
SPTILE_PROFILE=profile.tsv sptile run a.h5 -n 4 --format csr,bmat --choose measured --json > measured.json
[ "$(jq '[.candidates[] | select(.measured_us > 0)] | length' measured.json)" = 2 ] || echo "not measured"
fastest=$(jq -r '.candidates | min_by(.measured_us) | .format' measured.json)
[ "$(jq -r .format measured.json)" = "$fastest" ] || echo "not the fastest"
sptile run a.h5 --op sddmm -n 4 --choose measured --explain --check | grep -c ' chosen$\|ok$'
# Without a model it is csr, or what there is; the built-in profile has one of every CPU.
printf 'sptile-profile 1\ndevice cpu 0 test\n' > empty.tsv
SPTILE_PROFILE=empty.tsv sptile run a.h5 -n 4 --json | json-has 'format="csr"' predicted_us=null
[ "$(sptile run a.h5 -n 4 --json | jq '[.candidates[] | select(.predicted_us > 0)] | length')" = 3 ] || echo "not predicted"
SPTILE_PROFILE=profile.tsv sptile run a.h5 -n 4 --format csr,bittcf --json | json-has 'format="csr"' predicted_us=20
SPTILE_PROFILE=profile.tsv sptile run a.h5 -n 4 --format bittcf --json | json-has 'format="bittcf"' predicted_us=null
