# A warning, with the worst row, where times spread too much; not for a few of them.
here="$ROOT/tests/cli/bench"
python3 "$here/planted-rows.py" "$here/measured.csv" log.csv 1 spread:0.875
sptile bench --csv log.csv --plot a.svg > /dev/null
python3 "$here/planted-rows.py" "$here/measured.csv" log.csv 1 spread:0.875 repeat:4
sptile bench --csv log.csv --plot b.svg > /dev/null
