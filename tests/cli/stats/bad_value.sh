printf '%%%%MatrixMarket matrix coordinate real general\n%% a comment\n3 3 1\n1 1 1,5\n' > bad.mtx
sptile stats bad.mtx
