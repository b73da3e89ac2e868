set -- "$ROOT/data/examples/us_states.mtx" "$ROOT/data/examples/residual.mtx"
sptile bench --suite rsh --device cpu --experiment fig2,fig13,fig14 "$@"
sptile bench --suite libra --device cpu --experiment structures "$@" --json > out.json
json-has 'structures[].title' 'structures[].lines[].quantities' 'structure_rows[].matrix' \
  'structure_rows[].window_rows' < out.json
jq -c '.structure_rows[] | [.experiment, .matrix, .format, .tc_utilization // .b_rows // .nnz1_ratio]' out.json
# A matrix that cannot be read does not stop the others.
sptile bench --suite acc --device cpu --experiment fig12 "$@" none.mtx
