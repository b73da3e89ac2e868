# Values of every type go out as raw CSR and come back as they were; so does a pattern. Layout 2 begins with 2RSC.
printf '%%%%MatrixMarket matrix coordinate real general\n3 5 3\n1 5 0.1\n3 1 -2\n3 2 0\n' > a.mtx
printf '%%%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 2\n' > pattern.mtx
for dtype in f32 f64; do
  sptile convert a.mtx a.h5 --dtype $dtype -q --force
  sptile export a.h5 a.csr -q --force
  sptile verify a.h5 --against a.csr --json | jq .ok
done
head -c 4 a.csr && echo
sptile reorder pattern.mtx --method identity -o pattern.csr -q
sptile stats pattern.csr --json | jq -c '[.rows, .nnz, .dtype]'
sptile reorder a.csr --method identity -o b.mtx -q && cat b.mtx
sptile convert a.mtx b.csr || true
head -c 50 a.csr > cut.csr
sptile stats cut.csr
