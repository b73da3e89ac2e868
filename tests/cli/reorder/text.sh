sptile reorder "$ROOT/data/examples/us_states.mtx" --method rcm -o out.mtx --perm order.txt
head -3 out.mtx
wc -l < order.txt
