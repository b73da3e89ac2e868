# Killed while it starts, reads or writes: the old folder stays or the new one is complete, and nothing else is left.
sptile gen random --rows 20000 --cols 20000 --nnz 600000 -o a.mtx -q
sptile gen grid2d --side 5 -o grid.mtx -q
for signal in TERM INT HUP; do
  for moment in starts reads writes; do
    sptile partition grid.mtx --parts 1 -o parts --force -q
    interrupted $signal $moment parts sptile partition a.mtx --parts 6 --method rows -o parts --force -q --threads 1 2> warnings
    [ "$(sptile verify parts --json | jq -c .ok)" = true ] || echo "not complete"
    [ $moment != reads ] || [ ! -e parts/part-0005.h5 ] || echo "a partition of half a matrix"
    [ "$(ls -A | tr '\n' ' ')" = "a.mtx grid.mtx parts warnings " ] || ls -A
  done
done
