sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q
mkfifo profile.tsv
SPTILE_PROFILE=profile.tsv sptile run a.h5 -n 4 --json > /dev/null
