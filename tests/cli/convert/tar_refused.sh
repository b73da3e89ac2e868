# Archives that are not clear, or damaged, say what is in them and what to do.
mkdir -p a b
printf '%%%%MatrixMarket matrix coordinate real general\n3 4 2\n1 4 2.5\n4 1 -1\n' | tee a/a.mtx > b/b.mtx
try() { sptile convert "$@" out.h5 -q || echo "$?"; }
tar cf wrong.tar a/a.mtx && try wrong.tar
printf '%%%%MatrixMarket matrix coordinate real general\n3 4 1\n1 4 2.5\n' | tee a/a.mtx > b/b.mtx
echo text > a/README
tar czf several.tar.gz a b && try several.tar.gz
tar czf none.tar.gz a/README && try none.tar.gz
ln -s ../b/b.mtx a/link.mtx && tar cf link.tar a/link.mtx && try link.tar
tar cf good.tar b/b.mtx && head -c 540 good.tar > cut.tar && try cut.tar
(head -c 20 wrong.tar; printf X; tail -c +22 wrong.tar) > damaged.tar && try damaged.tar
python3 -c "import zipfile; zipfile.ZipFile('a.zip', 'w').write('a/README')" && try a.zip
sptile gen grid2d --side 3 -o x.tar.gz || echo "$?"
test ! -e out.h5
