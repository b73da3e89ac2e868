# Made-up values are other rows than those of the file.
bench() { sptile bench "$ROOT/data/examples/us_states.mtx" --format csr -n 4 --repeat 1 --csv log.csv --json "$@"; }
bench | json-has resumed=0
bench --values random | json-has resumed=0
bench --values random | json-has resumed=1
