sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q --format bittcf --refreshable
sptile info a.h5 -v
