# A row for every reorderer, with the presets, parameters and summary of the JSON.
sptile list reorderers | tail -n +2 | sed -E 's/ +/ /g' > text
sptile list reorderers --json | jq -r '.reorderers[] | [.name, (.presets, .parameters | map(.name) | join(", ") |
  if . == "" then "-" else . end), .summary] | join(" ")' | diff text -
