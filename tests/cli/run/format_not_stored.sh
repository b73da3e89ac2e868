# A format that is known but not stored: what is, and the command that adds it.
sptile gen planted --rows 300 --edges 2000 --mix 0.2 -o a.mtx -q
sptile convert a.mtx a.h5 -q --format bmat --dtype f16 --reorder degree
sptile run a.h5 --format tall 2> message || echo "exit code $?"
cat message
eval "$(sed 's/.*add it with: //; s/ and the --reorder.*//' message) -q"
sptile run a-tall.h5 --format tall --dense f16 --check --repeat 1 --json | json-has 'value_dtype="f16"' checked=true
sptile info a-tall.h5 --json | jq -c '[.formats[].name]'
