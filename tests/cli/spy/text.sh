sptile spy "$ROOT/data/examples/fem_plate.mtx" -o out.png
sptile spy "$ROOT/data/examples/fem_plate.mtx" -o both.png --reorder rcm --size 300
sptile spy "$ROOT/data/examples/fem_plate.mtx" -o - --size 300 | head -c 8 | od -An -c
