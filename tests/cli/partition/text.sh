sptile gen grid2d --side 30 --shuffle -o grid.mtx -q
sptile partition grid.mtx --parts 3 -o parts
ls parts
sptile verify parts --against grid.mtx
