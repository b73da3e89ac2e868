sptile gen grid2d --side 15 -o a.mtx -q
sptile convert "$ROOT/data/examples/us_states.mtx" b.h5 -q
sptile bench a.mtx b.h5 --reorder identity,random -n 8,9 --repeat 2 --json > out.json
json-has 'rows[].reorder' 'rows[].device' 'rows[].op' 'rows[].format' 'rows[].kernel' 'rows[].n' 'rows[].dtype' \
  'rows[].precision' 'rows[].median_us' 'rows[].gflops' 'rows[].rel_err' 'rows[].checked' resumed=0 < out.json
# Of each format the same number.
jq -c '[.rows | group_by(.format)[] | length] | unique' out.json
[ "$(jq -r '.rows[].format' out.json | sort -u)" = "$(format-names | sort)" ] || echo "not every format"
