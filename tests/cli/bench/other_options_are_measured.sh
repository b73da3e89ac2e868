# What was measured with other repeats, without a check, by another version or elsewhere is measured again.
bench() { sptile bench "$ROOT/data/examples/us_states.mtx" --format csr -n 4 --csv log.csv --json "$@"; }
bench --repeat 1 | json-has resumed=0
bench --repeat 1 | json-has resumed=1
bench --repeat 2 | json-has resumed=0
bench --repeat 1 --warmup 1 | json-has resumed=0
bench --repeat 1 --no-check | json-has resumed=0
bench --repeat 1 | json-has resumed=1
cp log.csv here.csv
for column in version host; do
  python3 - $column <<'PYTHON'
import csv, sys
rows = list(csv.reader(open("here.csv", newline="")))
at = rows[0].index(sys.argv[1])
assert all(row[at] for row in rows)
csv.writer(open("log.csv", "w", newline=""), lineterminator="\n").writerows(
    rows[:1] + [row[:at] + ["another"] + row[at + 1:] for row in rows[1:]])
PYTHON
  bench --repeat 1 | json-has resumed=0
done
