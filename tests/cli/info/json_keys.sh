sptile convert "$ROOT/data/examples/fem_plate.mtx" a.h5 -q
sptile info a.h5 --json | json-has rows cols nnz 'dtype="f32"' row_order=false 'formats[].name' 'formats[].tc_blocks' \
  'formats[].index_bytes' 'formats[].value_bytes' 'arrays[].path' plans
