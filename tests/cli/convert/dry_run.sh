# Sizes are those of the real conversion, byte by byte, and nothing is written.
tell='del(.seconds, .seconds_from, .dry_run, .peak_memory) | del(.. | .seconds?)'
for options in "" "--format tall:64,csr --dtype f16" "--refreshable --transpose --reorder pack" "--format csr" "--dtype f64 --reorder auto"; do
  read -ra given <<<"$options"
  for matrix in us_states windows fem_plate; do
    sptile convert "$ROOT/data/examples/$matrix.mtx" out.h5 "${given[@]}" --dry-run --json > dry.json
    [ ! -e out.h5 ] || echo "$matrix $options: something was written"
    sptile convert "$ROOT/data/examples/$matrix.mtx" out.h5 "${given[@]}" --json > real.json
    [ "$(jq .file_bytes dry.json)" = "$(stat -c %s out.h5)" ] || echo "$matrix $options: another size"
    diff <(jq "$tell" dry.json) <(jq "$tell" real.json) || echo "$matrix $options: told otherwise"
    rm -f out.h5
  done
done
json-has dry_run=true peak_memory seconds.write seconds_from 'formats[].index_bytes' < dry.json
json-has dry_run=false peak_memory < real.json
ls
