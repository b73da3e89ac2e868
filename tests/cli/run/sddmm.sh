# Each format; where nobody says which, csr.
sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q --reorder degree
for format in $(sptile info a.h5 --json | jq -r '.formats[].name'); do
  sptile run a.h5 --op sddmm --format "$format" -n 17 --device cpu --precision fp32 --check --repeat 3 --json |
    json-has 'op="sddmm"' "format=\"$format\"" kernel n=17 'dtype="f32"' 'precision="fp32"' median_us gflops rel_err \
      predicted_us checked=true
done
sptile run a.h5 --op sddmm -n 1 --json | json-has 'format="csr"' rel_err=null checked=false
# The values of the matrix may be of any type.
sptile gen random --rows 300 --cols 400 --nnz 5000 -o a.mtx -q
sptile convert a.mtx d.h5 -q --dtype f64
sptile run d.h5 --op sddmm --check --json | json-has 'dtype="f64"' 'precision="fp64"'
sptile run d.h5 --op sddmm --dense bf16 --format rs_tile --check --json | json-has 'dtype="bf16"' 'precision="fp32"'
sptile run a.h5 --op sddmm --format bittcf -n 16 --check --repeat 5
