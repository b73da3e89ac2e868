sptile info "$ROOT/data/examples/us_states.mtx"
