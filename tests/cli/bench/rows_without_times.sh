# Rows of a file are looked at before anything is made of them.
here="$ROOT/tests/cli/bench"
for change in spread: spread:-1 'spread:"0.1"' gflops:true spread:1e999 cuda.tall=0 threads:[1]; do
  python3 "$here/planted-rows.py" "$here/measured.csv" log.csv 1 "$change"
  status=0; sptile bench --csv log.csv --against "$here/measured.csv" || status=$?
  echo $status
done
