[ "$(sptile list devices --json | jq '.devices[] | select(.name == "cuda") | .available')" = false ] ||
  { echo "there is a CUDA device" >&2; exit 77; }
sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q
sptile run a.h5 --op spmm --format csr --device cuda
