printf '%%%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n' > a.mtx
status=0; sptile report a.mtx -o out.html || status=$?
ls
exit $status
