sptile gen random --rows 20 --cols 30 --nnz 601
