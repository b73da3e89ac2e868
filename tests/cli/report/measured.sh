# With --measure every candidate has a time, the least one is recommended, and the roofline is there.
sptile report "$ROOT/data/examples/fem_plate.mtx" -o out.html -n 8 --reorder rcm --measure --json > out.json
json-has measured=true 'advice.basis="measured"' copy_gbps floor_us < out.json
jq -e '[.formats[].candidates[] | select(.refused == null) | .measured_us > 0] | all and length >= 8' out.json > /dev/null
jq -e '([.formats[].candidates[] | select(.refused == null)] | min_by(.measured_us) | .chosen) == true' out.json > /dev/null
jq -e '[.formats[].candidates[] | select(.chosen)] | length == 1' out.json > /dev/null
grep -c 'minimum at memory bandwidth' out.html
