sptile gen random --rows 20 --cols 30 --nnz 40 --seed 5 -o a.mtx --json |
  json-has 'kind="random"' rows=20 cols=30 nnz=40 seed=5 arguments.nnz=40
