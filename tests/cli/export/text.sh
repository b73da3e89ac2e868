sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q
sptile export a.h5 back.mtx
sptile export a.h5 again.mtx --json | json-has rows cols nnz 'from="csr"'
cmp back.mtx again.mtx
