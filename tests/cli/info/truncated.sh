sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q --format bittcf,bmat
head -c 70000 a.h5 > cut.h5
sptile info cut.h5 --json
