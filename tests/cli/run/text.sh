sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q
sptile run a.h5 --op spmm --format bittcf -n 16 --check --repeat 5
