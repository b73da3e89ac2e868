printf '%%%%MatrixMarket matrix coordinate real general\n3 3 1\n4 1 1\n' > bad.mtx
status=0; sptile reorder bad.mtx --method rcm -o out.mtx --perm order.txt || status=$?
[ "$(ls -A)" = bad.mtx ]
exit $status
