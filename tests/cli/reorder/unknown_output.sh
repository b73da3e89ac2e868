sptile reorder "$ROOT/data/examples/us_states.mtx" --method rcm -o out.doc
