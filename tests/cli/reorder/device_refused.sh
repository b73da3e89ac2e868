sptile reorder "$ROOT/data/examples/us_states.mtx" --method pack --preset fast --device cuda
