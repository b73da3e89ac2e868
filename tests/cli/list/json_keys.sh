sptile list --json | json-has 'formats[].name' 'formats[].window_rows' 'reorderers[].name' 'reorderers[].on_device' \
  'kernels[].name' 'kernels[].op' 'kernels[].format' 'kernels[].device' 'kernels[].deterministic' \
  'kernels[].available' 'devices[].name'
for table in formats reorderers kernels devices; do
  [ "$(sptile list $table --json | jq -c 'keys - ["schema_version", "verb"]')" = "[\"$table\"]" ] || echo "$table"
  sptile list $table > text
  [ -s text ]
done
