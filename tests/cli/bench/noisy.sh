# Rows with a large spread are marked, never the fastest, and without a conclusion.
here="$ROOT/tests/cli/bench"
shown() { sptile bench --csv log.csv --plot "$1.svg" 2> /dev/null | sed 's/  */ /g'; }
python3 "$here/planted-rows.py" "$here/measured.csv" log.csv 1 cuda.tall=0.5 spread:0.01
shown calm | grep -E 'tall|fastest'
python3 "$here/planted-rows.py" "$here/measured.csv" log.csv 1 spread:0.875
shown noisy | grep -cE 'noisy *$'
shown all | grep -E 'fastest at|pays|as fast as' || echo "no conclusion"
sptile bench --csv log.csv --plot json.svg --json 2> /dev/null | jq -c '[.groups, .orders, ([.rows[] | [.noisy, .fastest, .over_csr]] | unique)]'
