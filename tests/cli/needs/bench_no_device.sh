[ "$(sptile list devices --json | jq '.devices[] | select(.name == "cuda") | .available')" = false ] ||
  { echo "there is a CUDA device" >&2; exit 77; }
sptile bench "$ROOT/data/examples/us_states.mtx" --device cuda --precision tf32,fp16 --format bittcf,tall:64 --flush-l2 --csv log.csv
