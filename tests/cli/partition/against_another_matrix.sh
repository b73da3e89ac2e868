sptile gen grid2d --side 8 -o grid.mtx -q
sptile gen grid2d --side 8 --seed 5 -o other.mtx -q
sptile partition grid.mtx --parts 2 -o parts -q
sptile verify parts --against other.mtx
