printf '%%%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 3.5 -1\n' > a.mtx
sptile convert a.mtx real.h5 --real-part -q
sptile export real.h5 -
sptile convert a.mtx out.h5
