sptile gen grid2d --side 3 --json
