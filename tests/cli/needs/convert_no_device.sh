[ "$(sptile list devices --json | jq '.devices[] | select(.name == "cuda") | .available')" = false ] ||
  { echo "there is a CUDA device" >&2; exit 77; }
sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q --device cuda
