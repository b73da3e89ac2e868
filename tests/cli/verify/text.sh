sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q --reorder degree --refreshable
sptile verify a.h5 --against "$ROOT/data/examples/us_states.mtx"
