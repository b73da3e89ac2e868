sptile stats "$ROOT/data/examples/us_states.mtx" --json | json-has rows cols nnz empty_rows empty_cols row_nnz.mean \
  row_nnz.percentiles.p50 row_nnz.above_2x_mean row_nnz.above_4x_mean 'row_nnz.bins[].lines' col_nnz.max nnz1_ratio 'formats[].name' 'formats[].index_bytes' 'formats[].value_bytes' \
  'formats[].over_coo' 'formats[].over_tcf' \
  'quality[].window_rows' 'quality[].distinct_columns' 'quality[].tc_blocks' 'quality[].mean_nnz_tc'
sptile stats "$ROOT/data/examples/us_states.mtx" --json > stats.json
jq -c '[.formats[] | select(.stored | not) | .name], [.quality[].window_rows]' stats.json
[ "$(jq -r '.formats[] | select(.stored) | .name' stats.json)" = "$(format-names)" ] || echo "not every format"
