# Only the formats that are named have times; when the time is over nothing has, and that is said.
in=$ROOT/data/examples/fem_plate.mtx
sptile report "$in" -o a.html -n 8 --reorder identity --measure --format csr,bmat --json > out.json
jq -r '[.formats[].candidates[] | select(.measured_us != null) | .format] | unique[]' out.json
json-has not_reached=0 'advice.basis="measured"' < out.json
jq -r '.commands[-1]' out.json | grep -o -- '--measure.*'
sptile report "$in" -o b.html -n 8 --reorder identity --measure --seconds 0 --json > none.json
json-has 'advice.basis="predicted"' < none.json
jq '.not_reached > 8 and ([.formats[].candidates[].measured_us] | all(. == null))' none.json
status=0; sptile report "$in" -o c.html --format bmap || status=$?
[ ! -e c.html ]
exit $status
