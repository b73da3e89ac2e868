sptile gen grid2d --side 50000
