# They are reported first, as far as their headers tell, and cost the others nothing.
sptile gen grid2d --side 4 -o good.mtx -q
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 3 1\n' > broken.mtx
echo no matrix > text.mtx
status=0
sptile bench broken.mtx good.mtx missing.mtx text.mtx "$ROOT/data/examples/us_states.mtx" --format csr -n 4 --repeat 1 \
  --csv log.csv --json > out.json || status=$?
jq -c '.rows[].matrix, (.failed[] | [.input, .exit])' out.json
[ "$(wc -l < log.csv)" = 3 ]
exit $status
