# The same bundle as convert makes, and it gives the matrix back in its own order.
sptile gen rmat --scale 10 --edges 9000 --shuffle -o a.mtx -q
sptile reorder a.mtx --method metis --set part-rows=64 --window-rows 16 -o a.h5 --perm order.txt -q
sptile convert a.mtx b.h5 --reorder metis --set part-rows=64 --window-rows 16 -q
cmp a.h5 b.h5
sptile verify a.h5 --against a.mtx > /dev/null
sptile export a.h5 back.mtx -q
cmp a.mtx back.mtx
wc -l < order.txt
