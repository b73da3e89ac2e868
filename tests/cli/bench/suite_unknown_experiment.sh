sptile bench --suite acc --device cpu --experiment fig13,fig99 "$ROOT/data/examples/us_states.mtx"
