for shape in "0 0 0" "0 5 0" "5 0 0" "1 1 0" "1 4000 0" "4000 1 0"; do
  printf '%%%%MatrixMarket matrix coordinate real general\n%s\n' "$shape" > a.mtx
  sptile spy a.mtx -o a.png --reorder degree --size 64 --force --json | json-has width height
done
