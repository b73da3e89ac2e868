sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q
sptile plan a.h5 --device tpu
