# Interrupted at any time: the old folder stays, or the new one is whole, and nothing else is left.
sptile gen random --rows 20000 --cols 20000 --nnz 600000 -o a.mtx -q
sptile gen grid2d --side 5 -o grid.mtx -q
finished=0
for signal in TERM INT HUP; do
  for delay in 0.02 0.1 0.2 0.3 0.5; do
    sptile partition grid.mtx --parts 1 -o parts --force -q
    ( trap - INT; exec sptile partition a.mtx --parts 6 --method rows -o parts --force -q --threads 1 2> warnings ) &
    sleep $delay
    kill -$signal $! 2> /dev/null || true
    wait $! 2> /dev/null || true
    [ "$(sptile verify parts --json | jq -c .ok)" = true ] || echo "not whole"
    [ -e parts/part-0005.h5 ] && finished=$((finished + 1))
    [ "$(ls -A | tr '\n' ' ')" = "a.mtx grid.mtx parts warnings " ] || ls -A
  done
done
[ $finished -lt 15 ]  # else the test would show nothing
