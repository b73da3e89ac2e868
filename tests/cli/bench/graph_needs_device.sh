sptile bench "$ROOT/data/examples/us_states.mtx" --graph
