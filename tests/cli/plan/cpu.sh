# CPU plans are stored, listed, proven, taken and replaced; everything else of the bundle stays.
sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q --transpose
sptile info a.h5 --json | jq '.arrays' > before.json
sptile run a.h5 -n 64 --threads 2 --json | json-has 'plan="made"'
sptile plan a.h5 -n 64,128 --device cpu --threads 2 --json | json-has 'plans[].op' 'plans[].format' 'plans[].kernel' \
  'plans[].n' 'plans[].dtype' 'plans[].device' 'plans[].threads' 'plans[].replaced'
sptile info a.h5 --json | jq -e '[.plans[] | [.device, .threads, .capability]] == [["cpu", 2, null], ["cpu", 2, null]]' > /dev/null
sptile info a.h5 | grep -q '^spmm  *csr  *cpu.csr.[a-z0-9]*  *64  *f32  *fp32  *cpu, 2 threads '
sptile info a.h5 --json | jq '[.arrays[] | select(.path | startswith("/plans") | not)]' > after.json
cmp before.json after.json
sptile verify a.h5 --json | jq -e '[.checks[] | select(.name | startswith("plan /plans/")) | .ok] == [true, true]' > /dev/null
sptile run a.h5 -n 64 --threads 2 --check --json | json-has 'plan="stored"' checked=true
sptile run a.h5 -n 64 --threads 2 --check | grep -q 'stored plan used in'
sptile run a.h5 -n 64 --threads 2 --replan --json | json-has 'plan="made"'
sptile run a.h5 -n 63 --threads 2 --json | json-has 'plan="made"'
sptile run a.h5 -n 64 --threads 3 --json | json-has 'plan="made"'
code=0
sptile plan a.h5 -n 64 --device cpu --threads 2 2> message || code=$?
[ $code = 2 ]
grep -q "/plans/0000 already contains this plan (.*); --force replaces it" message
sptile plan a.h5 -n 64 --device cpu --threads 2 --force --json | json-has 'plans[].replaced=true'
[ "$(sptile info a.h5 --json | jq '.plans | length')" = 2 ]
for format in $(sptile info a.h5 --json | jq -r '.formats[].name'); do
  sptile plan a.h5 --format "$format" -n 8,96 --device cpu --threads 2 -q > /dev/null
  sptile run a.h5 --format "$format" -n 96 --threads 2 --check --json | json-has 'plan="stored"' checked=true
done
sptile plan a.h5 --op sddmm --format rs_tile -n 8 --device cpu --threads 1 -q > /dev/null
sptile run a.h5 --op sddmm -n 8 --threads 1 --check --json | json-has 'plan="stored"' 'format="rs_tile"' checked=true
sptile plan a.h5 --transpose --format bittcf -n 8 --device cpu --threads 1 -q > /dev/null
sptile verify a.h5 --against "$ROOT/data/examples/us_states.mtx" -q > /dev/null
