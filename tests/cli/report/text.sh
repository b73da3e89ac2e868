# Without a model of the device, bytes decide.
printf 'sptile-profile 1\ndevice cpu 0 test\n' > empty.tsv
export SPTILE_PROFILE=empty.tsv
sptile report "$ROOT/data/examples/fem_plate.mtx" -o out.html -n 8
sptile report "$ROOT/data/examples/fem_plate.mtx" -o two.html -n 8 --reorder rcm -q
sptile report "$ROOT/data/examples/fem_plate.mtx" -o - -n 8 --reorder identity | head -c 15
