sptile stats "$ROOT/data/examples/residual.mtx" --format rs_tile:tau_nnz=0,rs_tile:tau_nnz=2,libra_spmm:9 --json > stats.json
jq -c '.formats[] | [.name, .index_bytes, .tc_nnz, .tc_windows, .mean_nnz_window, .over_coo, .over_tcf]' stats.json
# Without nonzeros in tiles, ratios over tiles are null.
jq -c '.formats[-1] | [.tc_nnz, .tc_utilization, .mean_nnz_window, .b_rows]' stats.json
sptile stats "$ROOT/data/examples/residual.mtx" --format csr
