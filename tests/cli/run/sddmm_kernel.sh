# A kernel of the other operation.
sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q
sptile run a.h5 --op sddmm --format csr --kernel cpu.csr.generic
