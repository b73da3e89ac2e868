sptile bench --suite acc --kernel all "$ROOT/data/examples/us_states.mtx"
