printf '%%%%MatrixMarket matrix coordinate real general\n3 4 0\n' | sptile stats - --json |
  json-has nnz=0 empty_rows=3 empty_cols=4 nnz1_ratio=0
