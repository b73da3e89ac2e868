sptile gen grid2d --side 20 --shuffle -o a.mtx -q
sptile list reorderers --json | jq -r '.reorderers[] | .name as $m | .presets[]?.name | "\($m) \(.)"' |
  while read -r method preset; do
    sptile reorder a.mtx --method "$method" --preset "$preset" -o out.mtx --force --json | json-has "preset=\"$preset\""
  done
