sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q
sptile run a.h5 --op spmm --format rs_tile -n 17 --device cpu --precision fp32 --check --repeat 3 --json |
  json-has 'device="cpu"' 'op="spmm"' 'format="rs_tile"' kernel n=17 'dtype="f32"' 'precision="fp32"' median_us gflops \
    rel_err checked=true 'plan="made"'
sptile run a.h5 -n 1 --json | json-has 'format="csr"' rel_err=null checked=false
