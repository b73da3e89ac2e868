printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 70000\n2 1 1\n' > a.mtx
sptile convert a.mtx out.h5 --dtype f16 -q
sptile convert a.mtx out.h5 --dtype f16 --force > /dev/null
