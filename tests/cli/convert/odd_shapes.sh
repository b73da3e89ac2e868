# One row, one column, no entries, one dense row: convert, verify, run.
formats=$(format-names)
for shape in "1 1 1" "1 1 0" "7 3 0" "1 500 500" "500 1 250" "9 1000 9000" "17 33 40"; do
  read -r rows cols nnz <<< "$shape"
  sptile gen random --rows "$rows" --cols "$cols" --nnz "$nnz" -o a.mtx --force -q
  sptile convert a.mtx a.h5 --force -q --reorder random
  sptile verify a.h5 --against a.mtx > /dev/null
  for format in $formats; do
    sptile run a.h5 --format "$format" -n 3 --check --repeat 1 --json | json-has checked=true
  done
done
