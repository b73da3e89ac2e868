# Exit code 7 is for what got slower; the same run is not slower than itself.
here="$ROOT/tests/cli/bench"
cp "$here/measured.csv" old.csv
sptile bench --csv old.csv --against old.csv --fail-slower > same.txt
grep "compared, 0 slower, 0 faster" same.txt
python3 "$here/planted-rows.py" old.csv new.csv 1 cuda.tall=1.5
sptile bench --csv new.csv --against old.csv --json > /dev/null
status=0
sptile bench --csv new.csv --against old.csv --fail-slower --json > out.json || status=$?
jq -c '[.against.rows[] | select(.verdict == "slower") | .format] | unique' out.json
exit $status
