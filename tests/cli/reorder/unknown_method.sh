sptile reorder "$ROOT/data/examples/us_states.mtx" --method rmc -o out.mtx
