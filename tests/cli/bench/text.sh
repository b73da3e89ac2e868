sptile bench "$ROOT/data/examples/us_states.mtx" --format csr,bmat -n 4 --repeat 2
