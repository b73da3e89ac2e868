# Matrices may come from pipes; bundles may not, and nobody waits for one that has no writer.
cp "$ROOT/data/examples/us_states.mtx" a.mtx
sptile convert <(cat a.mtx) a.h5 -q
sptile convert /dev/stdin b.h5 -q < a.mtx
sptile verify a.h5 --against <(xz -c a.mtx) > /dev/null
sptile verify b.h5 --against <(cat a.mtx) > /dev/null
mkfifo pipe.h5
refused() { status=0; sptile "$@" || status=$?; [ $status = 3 ]; }
refused info pipe.h5
refused verify pipe.h5
refused run pipe.h5
refused export pipe.h5 out.mtx
