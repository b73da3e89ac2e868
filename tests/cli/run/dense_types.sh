sptile gen random --rows 300 --cols 400 --nnz 5000 -o a.mtx -q
sptile convert a.mtx a.h5 -q
sptile convert a.mtx d.h5 --dtype f64 -q
sptile run d.h5 --format bmat --check --repeat 1 --json | json-has 'dtype="f64"' 'precision="fp64"'
for dtype in f16 bf16; do
  sptile convert a.mtx $dtype.h5 --dtype $dtype -q
  for dense in f32 $dtype; do
    sptile run $dtype.h5 --format bittcf --dense "$dense" --check --repeat 1 --json |
      json-has "value_dtype=\"$dtype\"" "dtype=\"$dense\"" checked=true
  done
done
# What no kernel serves is unsupported.
sptile run a.h5 --dense f16
