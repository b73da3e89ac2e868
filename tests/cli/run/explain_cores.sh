# Formats with tiles and rows: how much of the matrix tensor cores have.
sptile convert "$ROOT/data/examples/windows.mtx" a.h5 -q --format bittcf,hc_window:fitted
sptile run a.h5 --explain -n 4 | grep 'have tiles'
sptile run a.h5 -n 4 --format csr --explain | grep -c 'have tiles' || true
sptile convert "$ROOT/data/examples/windows.mtx" b.h5 -q --format hc_window:cuda
sptile run b.h5 --explain -n 4 | grep 'have tiles'
sptile stats "$ROOT/data/examples/windows.mtx" --json | jq -c '.formats[] | [.name, .tensor_cores]'
