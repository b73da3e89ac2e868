sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 --format bmat -q
sptile export a.h5 out.mtx --from bittcf
