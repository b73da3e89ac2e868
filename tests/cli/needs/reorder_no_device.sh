[ "$(sptile list devices --json | jq '.devices[] | select(.name == "cuda") | .available')" = false ] ||
  { echo "there is a CUDA device" >&2; exit 77; }
sptile reorder "$ROOT/data/examples/us_states.mtx" --method rabbit --device cuda
