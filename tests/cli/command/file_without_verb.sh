# A file in place of a verb: what fits its kind. By contents, else by name; what is neither is an unknown verb.
cp "$ROOT/data/examples/us_states.mtx" a.mtx
sptile convert a.mtx a.h5 -q
cp a.h5 'my bundle'
cp a.mtx matrix
printf '2\n1 2\n' > a.edges
echo hello > notes
advise() { echo "\$ sptile $*"; code=0; sptile "$@" 2>&1 || code=$?; [ $code = 2 ] || echo "exit code $code"; }
advise a.mtx
advise a.h5
advise 'my bundle'
advise matrix
advise a.edges
advise --quiet a.h5
advise nowhere.h5
advise notes | sed 's/Known: .*/Known: .../'
