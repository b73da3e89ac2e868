sptile spy "$ROOT/data/examples/us_states.mtx" -o out.png --size 5
