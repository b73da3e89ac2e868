formats=$(format-names)
sptile gen random --rows 1003 --cols 517 --nnz 20000 -o a.mtx -q
for reorder in identity degree random; do
  sptile convert a.mtx $reorder.h5 --reorder $reorder -q
  sptile verify $reorder.h5 --against a.mtx > /dev/null
  for format in $formats; do
    for n in 1 33; do
      sptile run $reorder.h5 --op spmm --format "$format" -n $n --check --repeat 2 --json | json-has checked=true
    done
  done
done
