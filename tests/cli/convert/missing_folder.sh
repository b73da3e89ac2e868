sptile convert "$ROOT/data/examples/us_states.mtx" nowhere/out.h5
