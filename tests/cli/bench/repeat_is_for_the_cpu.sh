sptile bench "$ROOT/data/examples/us_states.mtx" --device cuda --repeat 3
