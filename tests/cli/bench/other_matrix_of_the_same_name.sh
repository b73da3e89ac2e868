# Another matrix is measured, whatever it is called; the same one is not, wherever it lies.
mkdir one two
sptile gen random --rows 20 --cols 20 --nnz 50 --seed 1 -o one/a.mtx -q
sed '3s/ [^ ]*$/ 0.5/' one/a.mtx > two/a.mtx
bench() { sptile bench "$@" --format csr -n 4 --repeat 1 --csv log.csv --json; }
bench one/a.mtx | json-has resumed=0
bench two/a.mtx | json-has resumed=0
sptile convert two/a.mtx b.h5 -q
bench one/a.mtx two/a.mtx b.h5 > out.json
json-has resumed=3 < out.json
jq -r '.rows[].matrix' out.json
