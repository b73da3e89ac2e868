# Rows of the other operation stand beside those of SpMM in one file, and agree with the reference.
bench() { sptile bench "$ROOT/data/examples/us_states.mtx" --reorder degree -n 4,33 --repeat 1 --csv log.csv --json "$@"; }
bench --format csr > /dev/null
bench --op sddmm --precision fp32,fp64 --values random > out.json
jq -c '[.resumed, ([.rows | group_by(.format)[] | length] | unique)]' out.json
[ "$(jq -r '.rows[].format' out.json | sort -u)" = "$(format-names | sort)" ] || echo "not every format"
jq -c '[.rows[] | [.op, .dtype, .precision]] | unique | .[]' out.json
jq -e 'all(.rows[]; .rel_err <= .tolerance and .checked)' out.json
bench --op sddmm --format csr,bittcf --kernel all | jq -e 'all(.rows[]; .kernel | contains(".sddmm."))'
bench --op sddmm --format csr,tall:64,libra_spmm:2 | jq -r '.rows[] | select(.n == 4) | .format'
bench --op sddmm --format csr | json-has resumed=2
bench --op sddmm --format bmat --dtype f16 --dense f16 --values random |
  jq -c '.rows[] | [.value_dtype, .dtype, .precision, .checked]'
