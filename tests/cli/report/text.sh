sptile report "$ROOT/data/examples/fem_plate.mtx" -o out.html -n 8
sptile report "$ROOT/data/examples/fem_plate.mtx" -o two.html -n 8 --reorder rcm -q
sptile report "$ROOT/data/examples/fem_plate.mtx" -o - -n 8 --reorder identity | head -c 15
