sptile convert "$ROOT/data/examples/residual.mtx" a.h5 -q
sptile run a.h5 --transpose
