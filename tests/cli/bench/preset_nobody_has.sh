sptile bench "$ROOT/data/examples/us_states.mtx" --reorder identity,degree --preset fast
