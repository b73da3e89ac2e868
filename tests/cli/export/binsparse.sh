# What is written as binsparse is read back as it was, by name and, under any name, by contents.
printf '%%%%MatrixMarket matrix coordinate real general\n3 5 3\n1 5 0.1\n3 1 -2\n3 2 0\n' > a.mtx
printf '%%%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 2\n' > pattern.mtx
for dtype in f32 f64 f16; do
  sptile convert a.mtx a.h5 --dtype $dtype -q --force
  sptile export a.h5 a.bsp.h5 -q --force && cp a.bsp.h5 b.h5
  sptile verify a.h5 --against b.h5 --json | jq .ok
done
h5dump -a binsparse a.bsp.h5 | grep -o '{.*}' | tr -d '\134'
sptile reorder pattern.mtx --method identity -o pattern.bsp.hdf5 -q
sptile stats pattern.bsp.hdf5 --json | jq -c '[.rows, .nnz, .dtype]'
sptile convert a.mtx c.bsp.h5 -q || echo "$?"
sptile info b.h5 || echo "$?"
cp a.mtx text.bsp.h5 && sptile stats text.bsp.h5 --json | jq .nnz
echo 'no HDF5' > d.bsp.h5 && sptile stats d.bsp.h5
