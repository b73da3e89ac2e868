cp "$ROOT/data/examples/us_states.mtx" .
sptile reorder us_states.mtx --method rcm
