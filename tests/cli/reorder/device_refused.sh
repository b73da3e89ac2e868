sptile reorder "$ROOT/data/examples/us_states.mtx" --method pack --preset quality --device cuda
