formats=$(format-names)
sptile gen planted --rows 3000 --edges 20000 --mix 0.3 -o a.mtx -q
for dtype in f32 f64 f16 bf16; do
  sptile convert a.mtx $dtype.h5 --dtype "$dtype" --reorder degree --refreshable -q
  sptile verify $dtype.h5 --against a.mtx > /dev/null
  sptile info $dtype.h5 --json > info.json
  [ "$(jq -r '.formats[].name' info.json)" = "$formats" ]
  jq -c '[.dtype], [.formats[] | {key: (if .name == "csr" then .name else "others" end), value: .dtype}] | unique' info.json
  for format in $formats; do
    sptile run $dtype.h5 --format "$format" -n 17 --check --repeat 1 --warmup 0 --json | json-has checked=true
  done
done
