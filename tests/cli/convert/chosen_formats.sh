# csr is always there, whatever is asked for.
sptile convert "$ROOT/data/examples/us_states.mtx" out.h5 --format bmat,bittcf -q
sptile info out.h5 --json | jq -c '[.formats[].name]'
