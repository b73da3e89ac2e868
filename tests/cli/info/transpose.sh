sptile convert "$ROOT/data/examples/residual.mtx" a.h5 --format bittcf,rs_tile --transpose --reorder degree -q
sptile info a.h5
