# Each precision brings the type of its operands; a format may name its height.
sptile bench "$ROOT/data/examples/us_states.mtx" --format csr,tall:64 --precision fp32,fp64 --values random -n 4 --repeat 1 \
  --json > out.json
jq -c '.rows[] | [.format, .wanted_precision, .values, .value_dtype, .dtype, .precision, .checked]' out.json
jq -c '[.rows[] | .over_cusparse, .hbm_ratio] | unique' out.json
jq -c 'all(.rows[]; .predicted_us > 0)' out.json
