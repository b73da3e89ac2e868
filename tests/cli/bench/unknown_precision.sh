sptile bench "$ROOT/data/examples/us_states.mtx" --device cuda --precision fp32,fp8
