sptile reorder "$ROOT/data/examples/us_states.mtx" -o out.mtx
