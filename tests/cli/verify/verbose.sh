sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q --format bittcf --reorder degree
sptile verify a.h5 -v
