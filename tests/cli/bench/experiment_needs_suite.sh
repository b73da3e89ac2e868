sptile bench --experiment fig13 "$ROOT/data/examples/us_states.mtx"
