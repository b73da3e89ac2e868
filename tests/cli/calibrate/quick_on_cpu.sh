# Measures, fits, writes a profile; plans then choose by it.
export XDG_CONFIG_HOME=$PWD/config
sptile calibrate --quick --samples samples.csv --json > report.json
json-has 'device="cpu"' name output quick=true measurements seconds 'fits[].kernel' 'fits[].median_error' choice.cases \
  choice.within_5_percent choice.within_10_percent choice.worst_regret < report.json
profile=$(jq -r .output report.json)
case $profile in "$PWD/config/sptile/profiles/"*.tsv) ;; *) echo "profile at $profile" ;; esac
head -1 "$profile"
[ "$(wc -l < samples.csv)" = "$(jq '.measurements + 1' report.json)" ] || echo "samples are missing"
[ "$(jq '.choice.cases' report.json)" = 28 ] || echo "cases: $(jq .choice report.json)"
sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q
sptile run a.h5 --json | json-has predicted_us 'candidates[].predicted_us' 'candidates[].chosen'
formats=$(format-names | wc -l)
[ "$(sptile run a.h5 --json | jq '[.candidates[] | select(.predicted_us > 0)] | length')" = "$formats" ] || echo "no predictions"
[ "$(sptile run a.h5 --op sddmm --json | jq '[.candidates[] | select(.predicted_us > 0)] | length')" = "$formats" ] || echo "no predictions of SDDMM"
# It is renewed, with what kernels keep there, but a file that is named is not replaced.
printf 'number cpu.bmat.generic any balance 0.5\n' >> "$profile"
sptile calibrate --quick --op spmm --only cpu.bmat.generic -q > /dev/null
[ "$(grep -c "^number.cpu.bmat.generic" "$profile")" -gt 1 ] || echo "it was not measured"
grep -c balance "$profile" > count
[ "$(cat count)" = 1 ] || echo "the kernel's own number is lost"
sptile calibrate --quick -o "$profile" 2> message && echo "replaced"
grep -q -- --force message
