sptile gen random --rows 2 --cols 3 --nnz 4
sptile gen random --rows 2 --cols 3 --nnz 4 -o a.mtx
