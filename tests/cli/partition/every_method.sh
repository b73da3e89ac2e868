# Whatever divides the matrix, the parts are the matrix: with any order inside them, of a matrix that is symmetric or not.
sptile gen random --rows 300 --cols 300 --nnz 2000 -o random.mtx -q
sptile gen rmat --scale 8 --edges 1500 --shuffle -o graph.mtx -q
for matrix in random graph; do
  sptile convert $matrix.mtx $matrix.h5 -q
  rows=$(sptile info $matrix.h5 --json | jq .rows)
  seq 1 "$rows" | awk '{ print $1 * 7 % 5 }' > assignment
  for method in metis rows pack assignment; do
    for input in mtx h5; do
      for reorder in identity degree rcm; do
        sptile partition $matrix.$input --parts 5 --method $method --reorder $reorder -o parts --force -q 2> warnings
        sptile verify parts --against $matrix.mtx -q > said || cat said
        jq -r .content parts/partition.json >> contents
      done
    done
  done
  sort -u contents | wc -l  # one matrix, whatever its file and its cut
  rm contents
done
