sptile stats "$ROOT/data/examples/residual.mtx" --format rs_tile:tau_nnz=99
