sptile stats "$ROOT/data/examples/us_states.mtx"
