# Settings of rs_tile are separated by commas, like formats. Invalid ones are refused before the matrix is read.
for settings in '' :rule=none :rule=large_increment,tau_nnz=1 :tau_inc=2,rule=small_increment,split=1 :tau_nnz=0,split=none; do
  sptile convert "$ROOT/data/examples/residual.mtx" out.h5 --format "csr,rs_tile$settings,bittcf" --refreshable --force --json |
    jq -c '.formats[] | select(.name == "rs_tile") | .parameters | [.rule, .tau_nnz, .tau_inc, .split_limit, .split_pieces]'
  sptile verify out.h5 --against "$ROOT/data/examples/residual.mtx" > verified
  sptile run out.h5 --format rs_tile -n 8 --device cpu --check > checked
done
for wrong in rs_tile:3 rs_tile:tau_nnz=15 rs_tile:split=0 rs_tile:rule=small rs_tile:rule=none,rule=none rs_tile,rule=none; do
  code=0
  sptile convert missing.mtx out.h5 --format "$wrong" || code=$?
  echo "$code"
done
