sptile report "$ROOT/data/examples/us_states.mtx" -o out.html --reorder rmc
