# Standard input holds any format: binary ones are spooled, with or without --from.
# shellcheck disable=SC2002  # a pipe, not a file
cp "$ROOT/data/examples/us_states.mtx" a.mtx
sptile convert a.mtx a.h5 -q
size() { sptile stats --json "$@" | jq -c '[.rows, .cols, .nnz]'; }
for file in a.npz a.csr a.bsp.h5; do
  sptile export a.h5 "$file" -q
  cat "$file" | size -
done
cat a.npz | size - --from npz
cat a.h5 | size - --from bundle
size - --from npz < a.npz
printf '2 1\n2\n1\n' | size - --from metis
printf '0 1\n1 2\n' | size - --from edges -q
cat a.npz | sptile convert - b.h5 -q
sptile verify b.h5 --against a.mtx --json | jq -c .ok
{ TMPDIR=/nowhere sptile stats - < a.npz 2>&1 || echo $?; } | sed 's/sptile-[^:]*/sptile-*/'
