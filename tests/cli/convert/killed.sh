# Killed while it starts, reads or writes: the old bundle stays or the new one is complete, and nothing else is left.
sptile gen random --rows 20000 --cols 20000 --nnz 600000 -o a.mtx -q
sptile convert "$ROOT/data/examples/us_states.mtx" out.h5 -q
cp out.h5 old.h5
for signal in TERM INT HUP; do
  for moment in starts reads writes; do
    interrupted $signal $moment out.h5 sptile convert a.mtx out.h5 --force -q --threads 1
    if ! cmp -s old.h5 out.h5; then  # it has ended before the signal
      [ $moment != reads ] || echo "a conversion of half a matrix"
      sptile verify out.h5 --against a.mtx > /dev/null
      cp -f old.h5 out.h5
    fi
    [ "$(ls -A | tr '\n' ' ')" = "a.mtx old.h5 out.h5 " ] || ls -A
  done
done
