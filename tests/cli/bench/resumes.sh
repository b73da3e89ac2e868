# What the CSV has is not measured again; what is missing is added.
sptile gen grid2d --side 15 -o a.mtx -q
bench() { sptile bench a.mtx --format csr,bittcf "$@" --repeat 1 --csv log.csv --json; }
bench -n 4 > /dev/null
[ "$(wc -l < log.csv)" = 3 ]
cp log.csv first.csv
bench -n 4 | json-has resumed=2 'rows[].median_us'
cmp first.csv log.csv
truncate -s -10 log.csv  # a crash in the middle of a row
bench -n 4,5 --reorder identity,degree > out.json
json-has resumed=1 < out.json
jq '.rows | length' out.json
[ "$(wc -l < log.csv)" = 9 ]
