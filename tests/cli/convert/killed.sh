# Killed at any time: the old bundle stays, and nothing else.
sptile gen random --rows 20000 --cols 20000 --nnz 600000 -o a.mtx -q
sptile convert "$ROOT/data/examples/us_states.mtx" out.h5 -q
cp out.h5 old.h5
finished=0
for signal in TERM INT HUP; do
  for delay in 0.01 0.05 0.1 0.2 0.3; do
    ( trap - INT; exec sptile convert a.mtx out.h5 --force -q --threads 1 ) &
    sleep $delay
    kill -$signal $! 2> /dev/null || true
    if wait $! 2> /dev/null; then finished=$((finished + 1)); cp old.h5 new.h5; mv -f new.h5 out.h5; continue; fi
    cmp old.h5 out.h5
    [ "$(ls -A | tr '\n' ' ')" = "a.mtx old.h5 out.h5 " ] || ls -A
  done
done
[ $finished -lt 15 ]  # else the test would show nothing
