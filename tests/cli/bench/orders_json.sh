sptile gen grid2d --side 15 --shuffle -o a.mtx -q
sptile bench a.mtx --format csr,bittcf --reorder identity,rcm -n 4,5 --repeat 2 --json > out.json
json-has 'orders[].matrix' 'orders[].reorder' 'orders[].n' 'orders[].reorder_us' 'orders[].tc_blocks' \
  'orders[].mean_nnz_tc' 'orders[].format' 'orders[].median_us' 'orders[].min_us' 'orders[].speedup' < out.json
jq -c '[.orders[] | [.reorder, .n]]' out.json
# The fastest format counts by its shortest run, and the first ordering is the yardstick.
jq -e '. as $all | all(.orders[]; . as $o | $o.min_us ==
  ([$all.rows[] | select(.reorder == $o.reorder and .n == $o.n) | .min_us] | min))' out.json
jq -e 'all(.orders[] | select(.reorder == "identity"); .speedup == 1)' out.json
