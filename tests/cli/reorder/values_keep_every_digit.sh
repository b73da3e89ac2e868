printf '%%%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 0.1234567890123456\n2 1 -1e-300\n2 2 7\n' > a.mtx
sptile reorder a.mtx --method degree -o -
sptile convert a.mtx a.h5 -q
sptile reorder a.h5 --method degree -o -
