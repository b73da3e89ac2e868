formats=$(format-names)
sptile gen molecules --count 200 --field pattern --shuffle -o a.mtx -q
sptile convert a.mtx out.h5 --reorder degree --refreshable -q
sptile verify out.h5 --against a.mtx > /dev/null
sptile info out.h5 --json | json-has 'dtype="pattern"' row_order=true
for format in $formats; do
  sptile run out.h5 --format "$format" -n 33 --check --repeat 1 --json | json-has checked=true
done
