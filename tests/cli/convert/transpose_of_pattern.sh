# The transpose of a pattern has no values, and so nothing to refresh.
sptile convert "$ROOT/data/valid/general_pattern.mtx" a.h5 --transpose --refreshable --format bittcf,rs_tile --reorder random | grep transpose -A 5 | tr -s " "
sptile info a.h5 --json | jq -r '.arrays[].path | select(startswith("/transpose"))'
sptile verify a.h5
sptile run a.h5 --transpose --format rs_tile -n 5 --check --json | json-has checked=true
