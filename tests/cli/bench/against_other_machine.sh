here="$ROOT/tests/cli/bench"
python3 "$here/planted-rows.py" "$here/measured.csv" old.csv 1 host:elsewhere
sptile bench --csv "$here/measured.csv" --against old.csv > /dev/null
