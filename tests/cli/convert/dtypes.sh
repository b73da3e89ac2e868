sptile gen planted --rows 3000 --edges 20000 --mix 0.3 -o a.mtx -q
for dtype in f32 f64 f16 bf16; do
  sptile convert a.mtx $dtype.h5 --dtype $dtype --reorder degree --refreshable -q
  sptile verify $dtype.h5 --against a.mtx > /dev/null
  sptile info $dtype.h5 --json | jq -c '[.dtype] + [.formats[] | .name + " " + .dtype]'
  for format in csr me_tcf bittcf bmat rs_tile tall libra_spmm libra_sddmm; do
    sptile run $dtype.h5 --format $format -n 17 --check --repeat 1 --warmup 0 --json | json-has checked=true
  done
done
