# Without a verb: a few lines and exit code 2; the commands in them work as they stand.
code=0
sptile 2> tour || code=$?
[ $code = 2 ] || echo "exit code $code"
cat tour
sed -n 's/^  \(sptile .*[a-z0-9-]\)  .*/\1/p' tour > commands
[ "$(wc -l < commands)" = 3 ] || cat commands
bash -e commands > result
grep -c 'checked against the reference.*: ok$' result
