# Told before anything is measured; the file is left as it is.
echo a,b > old.csv
status=0
for file in missing.csv . old.csv; do
  sptile bench "$ROOT/data/examples/us_states.mtx" --against $file || status=$?
done
[ "$(cat old.csv)" = a,b ]
[ ! -e missing.csv ]
exit $status
