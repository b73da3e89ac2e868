# Plans are stored, listed, taken and replaced; everything else of the bundle stays.
[ "$(sptile list devices --json | jq '.devices[] | select(.name == "cuda") | .available')" = true ] ||
  { echo "there is no CUDA device" >&2; exit 77; }
sptile gen rmat --scale 12 --edges 100000 -o a.mtx -q
sptile convert a.mtx a.h5 -q
sptile info a.h5 --json | jq '.arrays' > before.json
sptile run a.h5 --device cuda -n 64 --json | json-has 'plan="made"'
sptile plan a.h5 --op spmm -n 64,128 --device cuda --json | json-has 'plans[].op' 'plans[].format' 'plans[].kernel' \
  'plans[].n' 'plans[].dtype' 'plans[].device' 'plans[].replaced'
sptile plan a.h5 --op sddmm -n 64 --format csr --device cuda -q > text
grep -q "^sddmm  *csr  *cuda.csr.sddmm" text
sptile info a.h5 --json | json-has 'plans[].op' 'plans[].format' 'plans[].kernel' 'plans[].n' 'plans[].dtype' 'plans[].device'
[ "$(sptile info a.h5 --json | jq '.plans | length')" = 3 ]
sptile info a.h5 --json | jq '[.arrays[] | select(.path | startswith("/plans") | not)]' > after.json
cmp before.json after.json
sptile run a.h5 --device cuda -n 64 --check --json | json-has 'plan="stored"' checked=true
sptile run a.h5 --device cuda -n 64 --check --op sddmm --format csr --json | json-has 'plan="stored"' checked=true
sptile run a.h5 --device cuda -n 64 --replan --json | json-has 'plan="made"'
sptile run a.h5 --device cuda -n 63 --json | json-has 'plan="made"'
code=0
sptile plan a.h5 --op spmm -n 64 --device cuda 2> message || code=$?
[ $code = 2 ]
grep -q "/plans/0000 already contains this plan (.*); --force replaces it" message
sptile plan a.h5 --op spmm -n 64 --device cuda --force --json | json-has 'plans[].replaced'
[ "$(sptile info a.h5 --json | jq '.plans | length')" = 3 ]
for format in csr me_tcf bittcf bmat rs_tile tall libra_spmm libra_sddmm hc_window; do
  for op in spmm sddmm; do
    sptile plan a.h5 --op $op -n 96 --format $format --device cuda --force -q > /dev/null || continue  # no kernel
    sptile run a.h5 --op $op -n 96 --format $format --device cuda --check --json | json-has 'plan="stored"' checked=true
  done
done 2> no_kernel
grep -v "tall.*sddmm\|sddmm.*tall" no_kernel | grep . && exit 1
sptile verify a.h5 --against a.mtx > text
