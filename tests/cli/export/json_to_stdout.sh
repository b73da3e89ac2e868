sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q
sptile export a.h5 - --json
