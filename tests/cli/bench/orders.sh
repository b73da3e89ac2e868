sptile gen grid2d --side 15 --shuffle -o a.mtx -q
sptile bench a.mtx --format csr,bittcf --reorder identity,rcm,metis --set part_rows=64 -n 4 --repeat 2
sptile bench a.mtx --format csr,bittcf --reorder identity,rcm -n 4,5 --repeat 2 --json > out.json
json-has 'orders[].matrix' 'orders[].reorder' 'orders[].n' 'orders[].reorder_us' 'orders[].tc_blocks' \
  'orders[].mean_nnz_tc' 'orders[].format' 'orders[].median_us' 'orders[].speedup' < out.json
jq -c '[.orders[] | [.reorder, .n]]' out.json
