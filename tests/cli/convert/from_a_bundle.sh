sptile gen grid2d --side 30 -o a.mtx -q
sptile convert a.mtx a.h5 --format csr -q
sptile convert a.h5 b.h5 --reorder degree -q
sptile verify b.h5 --against a.mtx > /dev/null
sptile verify b.h5 --against a.h5 > /dev/null
