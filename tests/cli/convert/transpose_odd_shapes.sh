# Without entries, rows or columns there is a transpose, too.
for shape in "0 0 0" "0 4 0" "4 0 0" "7 3 0" $'1 1 1\n1 1 2.5' $'1 5 2\n1 2 1\n1 5 2'; do
  printf '%%%%MatrixMarket matrix coordinate real general\n%s\n' "$shape" > a.mtx
  sptile convert a.mtx a.h5 --transpose --refreshable --reorder degree -q --force
  sptile verify a.h5 --against a.mtx > verified
  sptile run a.h5 --transpose -n 3 --check --repeat 1 --format csr --json | json-has checked=true
done
