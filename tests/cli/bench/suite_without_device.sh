sptile bench --suite acc --device cpu "$ROOT/data/examples/us_states.mtx" --experiment fig13,fig15
sptile bench --suite acc --device cpu "$ROOT/data/examples/us_states.mtx" --json > out.json
json-has 'suite="acc"' 'missing[].what' 'missing[].name' 'missing[].why' 'missing[].experiments' < out.json
jq -c '[.rows, .failed]' out.json
