sptile gen grid2d --side 5 -o a.mtx -q
sptile gen grid2d --side 5 --seed 2 -o b.mtx -q
sptile convert a.mtx a.h5 -q --format bittcf,rs_tile
sptile verify a.h5 --against b.mtx
