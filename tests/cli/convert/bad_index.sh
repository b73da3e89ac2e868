printf '%%%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1.5\n4 1 2\n' > bad.mtx
status=0; sptile convert bad.mtx out.h5 || status=$?
[ ! -e out.h5 ] && [ "$(ls -A)" = bad.mtx ]
exit $status
