# A row for every format, with what the JSON says of it; some rows as they stand.
sptile list formats > text
sptile list formats --json | jq -r '.formats[] | [.name, (if .tile_cols > 0 then "\(.tile_rows)x\(.tile_cols)" else "-" end),
  .summary] | join(" ")' > expected
tail -n +2 text | sed -E 's/ +/ /g' | diff expected -
sed -E 's/ +/ /g' text | grep -E '^(format|csr|bittcf|tall) '
# Parameters, as those of reorderers.
sptile list formats --json | jq -c '.formats[] | select(.name | IN("csr", "rs_tile", "tall", "libra_spmm", "hc_window")) | [.name, .parameters[]]'
