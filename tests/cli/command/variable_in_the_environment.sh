# A message names the variable that was wrong, and only where nothing that was typed wins over it.
XDG_CONFIG_HOME=$PWD
export XDG_CONFIG_HOME
sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q
refused() { code=0; env "$@" 2>&1 || code=$?; echo "exit code $code"; }
refused SPTILE_THREADS=many sptile info a.h5
refused SPTILE_THREADS=5000 sptile info a.h5
SPTILE_THREADS=many sptile info a.h5 --threads 2 > /dev/null
SPTILE_THREADS=3 sptile run a.h5 --threads 2 --json | json-has threads=2
SPTILE_THREADS=3 sptile run a.h5 --json | json-has threads=3
refused SPTILE_PROFILE=missing.tsv sptile run a.h5
echo nonsense > profile.tsv
refused SPTILE_PROFILE=profile.tsv sptile run a.h5
