[ "$(sptile list devices --json | jq '.devices[] | select(.name == "cuda") | .available')" = false ] ||
  { echo "there is a CUDA device" >&2; exit 77; }
sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q
sptile plan a.h5 -n 8 --json | jq -e '.plans[0].device == "cpu"' > /dev/null
cp a.h5 before.h5
code=0
sptile plan a.h5 --op spmm -n 128 --device cuda || code=$?
cmp a.h5 before.h5
exit $code
