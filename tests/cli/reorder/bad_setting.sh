sptile reorder "$ROOT/data/examples/us_states.mtx" --method metis --set part-rows=1 -o out.mtx
