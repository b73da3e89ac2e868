sptile convert "$ROOT/data/examples/fem_plate.mtx" a.h5 -q --format bmat,rs_tile,tall --reorder degree --refreshable
sptile verify a.h5 --against "$ROOT/data/examples/fem_plate.mtx"
