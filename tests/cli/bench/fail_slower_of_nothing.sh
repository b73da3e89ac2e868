# What compares nothing proves nothing.
here="$ROOT/tests/cli/bench"
python3 "$here/planted-rows.py" "$here/measured.csv" old.csv 1 content:another
status=0
sptile bench --csv "$here/measured.csv" --against old.csv > /dev/null
sptile bench --csv "$here/measured.csv" --against old.csv --fail-slower > /dev/null || status=$?
exit $status
