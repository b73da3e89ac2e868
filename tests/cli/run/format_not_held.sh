sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q --format bmat
sptile run a.h5 --format me_tcf
