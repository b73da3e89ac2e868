# What is measured now is compared with an earlier run, of whatever version.
bench() { sptile bench "$ROOT/data/examples/us_states.mtx" --format csr,bmat -n 4 --repeat 1 "$@"; }
bench --csv old.csv > /dev/null
python3 "$ROOT/tests/cli/bench/planted-rows.py" old.csv older.csv 1000 version:0.0.1
bench --against older.csv --json > out.json
# csr is the yardstick, so bmat alone is compared.
jq -c '[.against.rows[] | .format], [.against.yardsticks[] | .format], .against.only_old' out.json
jq -e 'all(.against.yardsticks[]; .ratio < 0.5)' out.json
