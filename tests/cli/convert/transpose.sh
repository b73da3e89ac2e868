# Formats of the transpose hold the transpose, in every format and order, and those of the matrix stay what they are.
formats=$(format-names)
sptile gen random --rows 503 --cols 217 --nnz 5000 -o a.mtx -q
for options in "" "--reorder degree --refreshable" "--reorder random --dtype f16" "--dtype f64 --refreshable"; do
  # shellcheck disable=SC2086  # several words
  sptile convert a.mtx a.h5 $options -q --force
  # shellcheck disable=SC2086
  sptile convert a.mtx both.h5 $options --transpose -q --force
  sptile verify both.h5 --against a.mtx > /dev/null
  arrays='.arrays[] | select(.path | startswith("/transpose") | not)'
  diff <(sptile info a.h5 --json | jq -c "$arrays") <(sptile info both.h5 --json | jq -c "$arrays")
  for format in $formats auto; do
    sptile run both.h5 --transpose --format "$format" -n 33 --check --repeat 1 --json |
      json-has checked=true transpose=true
  done
done
sptile info both.h5 --json | jq -c '.symmetric, .transpose.shared, .transpose.row_order, [.transpose.formats[].refreshable]'
sptile info both.h5 --json | jq -r '.arrays[].path | select(startswith("/transpose/formats/csr"))'
