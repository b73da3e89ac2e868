sptile convert "$ROOT/data/examples/fem_plate.mtx" out.h5 --json | json-has rows cols nnz 'formats[].name' \
  'formats[].tc_blocks' 'formats[].index_bytes' 'formats[].value_bytes' 'formats[].seconds' \
  seconds.read seconds.reorder seconds.write 'dtype="f32"' 'reorder="identity"'
