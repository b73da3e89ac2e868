# Names whose endings stand for something else are refused before anything is read or measured.
cp "$ROOT/data/examples/us_states.mtx" a.mtx
sptile convert a.mtx a.h5 -q
refused() { status=0; sptile "$@" || status=$?; [ $status = 2 ] || echo "exit $status: $*"; }
refused convert a.mtx x.mtx
refused convert a.mtx x.h5.gz
refused export a.h5 y.h5
refused export a.h5 y.mtx.bz2
refused export a.h5 y.MTX.XZ
refused reorder a.mtx --method rcm -o y.png
refused reorder a.mtx --method rcm -o y.MTX.XZ
refused reorder a.mtx --method rcm --perm y.mtx
refused gen grid2d --side 4 -o y.csv
refused spy a.mtx -o x.html
refused report a.mtx -o x.pdf
refused spy a.mtx -o x.jpg
refused bench a.mtx --plot x.png
refused bench a.mtx --csv x.json
refused calibrate -o x.csv
refused calibrate -o x.tsv --samples x.tsv
ls
# Endings that stand for nothing known are nobody's business.
sptile convert a.mtx out -q
sptile export a.h5 x.dat -q
sptile spy a.mtx -o picture -q
sptile gen grid2d --side 4 -o y.txt -q
ls
