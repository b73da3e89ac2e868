sptile convert "$ROOT/data/examples/residual.mtx" a.h5 --format bittcf --transpose -q
sptile run a.h5 --transpose --format bmat
