sptile gen grid2d --side 15 -o a.mtx -q
bench() { sptile bench a.mtx --format csr --reorder degree -n 4 --repeat 1 --csv log.csv --json "$@"; }
bench | json-has resumed=0
bench --window-rows 16 | json-has resumed=0
bench --window-rows 16 | json-has resumed=1
