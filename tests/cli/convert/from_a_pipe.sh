sptile gen grid2d --side 20 | sptile convert - out.h5 --json | json-has rows=400 nnz=1520 'input="-"'
sptile gen grid2d --side 20 -o same.mtx -q
sptile verify out.h5 --against same.mtx > /dev/null
