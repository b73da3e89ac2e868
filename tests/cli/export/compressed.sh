# Names in .gz, .xz and .zst are compressed; what comes back is the same text.
cp "$ROOT/data/examples/us_states.mtx" a.mtx
sptile convert a.mtx a.h5 -q
sptile export a.h5 back.mtx -q
for ending in gz xz zst; do
  sptile export a.h5 back.mtx.$ending -q
  sptile verify a.h5 --against back.mtx.$ending > /dev/null
  sptile reorder a.mtx --method identity -o same.mtx.$ending --perm order.txt.$ending -q
  sptile verify a.h5 --against same.mtx.$ending > /dev/null
  ! cmp -s back.mtx back.mtx.$ending
done
cmp back.mtx <(gzip -dc back.mtx.gz)
cmp back.mtx <(xz -dc back.mtx.xz)
cmp <(gzip -dc order.txt.gz) <(xz -dc order.txt.xz)
sptile gen grid2d --side 9 -o a.gz -q
cmp <(gzip -dc a.gz) <(sptile gen grid2d --side 9)
