# A list is one word: what follows is a matrix.
bench() { sptile bench --format csr --repeat 1 --json "$@" | jq -c '[.rows[].n]'; }
cp "$ROOT/data/examples/us_states.mtx" a.mtx
bench -n 4 a.mtx
bench -n 4,8 a.mtx
bench -n 4 -n 8,16 a.mtx
