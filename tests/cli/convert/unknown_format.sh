sptile convert "$ROOT/data/examples/us_states.mtx" out.h5 --format bittcv
