sptile report "$ROOT/data/examples/fem_plate.mtx" -o out.html -n 8 --json > out.json
json-has 'orders[].reorder' 'orders[].seconds' 'orders[].tc_blocks' 'formats[].sizes[].name' \
  'formats[].candidates[].format' 'row_bins[].rows' row_nnz.max=18 measured=false floor_us=null 'advice.basis="predicted"' \
  advice.format 'advice.reasons[]' 'commands[]' 'output="out.html"' < out.json
# What is told is what other verbs find.
sptile stats "$ROOT/data/examples/fem_plate.mtx" --json > stats.json
[ "$(jq -S '[.formats[0].sizes, .orders[0].quality]' out.json)" = "$(jq -S '[.formats, .quality]' stats.json)" ] || echo "not as stats"
