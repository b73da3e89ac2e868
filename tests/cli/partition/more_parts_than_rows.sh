printf '%%%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 5\n3 1 7\n' > a.mtx
for method in metis rows pack; do
  sptile partition a.mtx --parts 5 --method $method -o parts --force --json 2> warnings | jq -c '[.parts[].rows] | [length, add]'
  sptile verify parts --against a.mtx
done
