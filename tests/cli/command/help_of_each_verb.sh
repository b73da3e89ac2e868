# Defaults and an example for each; -h is the same as --help.
for verb in convert reorder stats spy report info verify export partition run bench calibrate list gen doctor completions; do
  sptile $verb --help > long
  sptile $verb -h | cmp long -
  grep -q "sptile $verb" long || echo "$verb: no example"
  grep -q -- "\[default: 0; range: 0" long || echo "$verb: no default: $(grep -- --threads long)"
done
