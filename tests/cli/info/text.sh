sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q --reorder random
sptile info a.h5
