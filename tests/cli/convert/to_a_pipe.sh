sptile convert "$ROOT/data/examples/us_states.mtx" - | cat
