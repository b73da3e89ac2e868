# A machine that is half as fast does not count, a kernel that is a third slower than it was does. Files are only read.
here="$ROOT/tests/cli/bench"
python3 "$here/planted-rows.py" "$here/measured.csv" new.csv 2 cuda.csr=1.3333 cuda.tall=0.9 version:0.2.0
cp "$here/measured.csv" old.csv
sptile bench --csv new.csv --against old.csv
sptile bench --csv new.csv --against old.csv --json > out.json
json-has against.slower=2 against.faster=4 against.only_old=0 against.only_new=0 'against.hosts.old' \
  'against.yardsticks[].ratio' 'against.rows[].noise' 'against.rows[].verdict' 'against.rows[].yardstick' \
  'rows[].fastest' 'groups[].pays_after' 'groups[].over_cusparse' < out.json
jq -c '[.against.rows[] | [.kernel, .precision, .verdict, .yardstick]] | unique | .[]' out.json
cmp old.csv "$here/measured.csv"
