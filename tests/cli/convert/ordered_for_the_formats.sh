# Rows are ordered for the windows that all formats have, for 8 rows where they differ, or as --window-rows says.
sptile gen rmat --scale 9 --edges 5000 --shuffle -o a.mtx -q
while read -r formats rows; do
  sptile convert a.mtx by-formats.h5 --format "$formats" --reorder pack:fast --force -q
  sptile convert a.mtx said.h5 --format "$formats" --reorder pack:fast --window-rows "$rows" --force -q
  cmp by-formats.h5 said.h5 || echo "$formats: not ordered for $rows rows"
done <<'END'
bittcf 8
bmat 16
csr,bmat 16
tall 64
tall:128 128
bmat,bittcf 8
csr 8
all 8
END
sptile convert a.mtx low.h5 --format bmat --reorder pack:fast --window-rows 8 -q
sptile convert a.mtx by-formats.h5 --format bmat --reorder pack:fast --force -q
if cmp -s low.h5 by-formats.h5; then echo "the height makes no difference"; fi
