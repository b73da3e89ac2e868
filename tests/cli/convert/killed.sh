# Killed at any time: the old bundle stays or the new one is whole, and nothing else is left.
sptile gen random --rows 20000 --cols 20000 --nnz 600000 -o a.mtx -q
sptile convert "$ROOT/data/examples/us_states.mtx" out.h5 -q
cp out.h5 old.h5
finished=0
for signal in TERM INT HUP; do
  for delay in 0.01 0.05 0.1 0.2 0.3; do
    ( trap - INT; exec sptile convert a.mtx out.h5 --force -q --threads 1 ) &
    sleep $delay
    kill -$signal $! 2> /dev/null || true
    wait $! 2> /dev/null || true
    if ! cmp -s old.h5 out.h5; then  # it was done in time
      finished=$((finished + 1))
      sptile verify out.h5 --against a.mtx > verified
      mv -f old.h5 out.h5
      cp out.h5 old.h5
      rm verified
    fi
    [ "$(ls -A | tr '\n' ' ')" = "a.mtx old.h5 out.h5 " ] || ls -A
  done
done
[ $finished -lt 15 ]  # else the test would show nothing
