sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q
sptile run a.h5 --kernel cpu.csr.generics
