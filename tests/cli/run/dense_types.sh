sptile gen random --rows 300 --cols 400 --nnz 5000 -o a.mtx -q
sptile convert a.mtx a.h5 -q
sptile convert a.mtx d.h5 --dtype f64 -q
sptile run d.h5 --format bmat --check --repeat 1 --json | json-has 'dtype="f64"' 'precision="fp64"'
for dtype in f16 bf16; do
  sptile convert a.mtx $dtype.h5 --dtype $dtype -q
  for dense in f32 $dtype; do
    sptile run $dtype.h5 --format bittcf --dense "$dense" --check --repeat 1 --json |
      json-has "value_dtype=\"$dtype\"" "dtype=\"$dense\"" "result_dtype=\"$dense\"" checked=true
  done
  # 16-bit operands, and an f32 result that keeps what they would lose.
  for op in spmm sddmm; do
    sptile run $dtype.h5 --op $op --dense $dtype --result f32 --choose measured --check --repeat 1 --json |
      json-has "dtype=\"$dtype\"" 'result_dtype="f32"' checked=true
  done
  sptile bench a.mtx --format csr,tall --dtype $dtype --dense $dtype --result f32 -n 8 --repeat 1 --json |
    jq -c '.rows[] | [.format, .dtype, .result_dtype, .checked, .rel_err < 1e-5]'
done
sptile run f16.h5 --format bittcf --dense f16 --result f32 -n 8 --repeat 1 | grep -c 'B and C f16 to f32'
# What no kernel serves is unsupported.
sptile run a.h5 --result f64 || echo $?
sptile run a.h5 --dense f16
