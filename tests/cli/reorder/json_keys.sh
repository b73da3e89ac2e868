sptile reorder "$ROOT/data/examples/us_states.mtx" --method degree -o out.mtx --json > out.json
window() { for key in window_rows distinct_columns tc_blocks mean_nnz_tc; do echo "quality_$1[].$key"; done; }
# shellcheck disable=SC2046
json-has 'method="degree"' 'device="cpu"' seconds rows=49 changed $(window before) $(window after) locality_before.jaccard_cost \
  locality_after.bandwidth locality_after.working_set_columns < out.json
jq -c '[.quality_before[].window_rows], [.quality_after[].window_rows]' out.json
jq '.changed > 0' out.json
sptile stats "$ROOT/data/examples/us_states.mtx" --json | jq '.quality, .locality' > before.json
jq '.quality_before, .locality_before' out.json | cmp - before.json
