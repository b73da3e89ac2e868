for format in f32 f64; do
  sptile convert "$ROOT/data/examples/blocks.mtx" $format.h5 --format csr,bittcf --dtype $format -q
  for op in spmm_update update_gradient layer_gradient; do
    sptile run $format.h5 --op $op --format csr -n 17 --check --repeat 3 --json | json-has "op=\"$op\"" 'format="csr"' n=17 checked=true
    sptile run $format.h5 --op $op -n 64 --check --json | json-has 'format="csr"' checked=true
  done
done
sptile run f32.h5 --op spmm_update --dense bf16 --result f32 --check --json | json-has 'dtype="bf16"' 'result_dtype="f32"' checked=true
# The other formats have it on CUDA devices alone.
sptile run f32.h5 --op spmm_update --format bittcf
