sptile bench "$ROOT/data/examples/us_states.mtx" --format csr,tall:48
