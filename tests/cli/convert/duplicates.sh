printf '%%%%MatrixMarket matrix coordinate real general\n2 2 3\n1 2 3.5\n1 2 1\n2 1 1\n' > a.mtx
sptile convert a.mtx out.h5 --json | json-has nnz=2 duplicates=1
sptile export out.h5 -
