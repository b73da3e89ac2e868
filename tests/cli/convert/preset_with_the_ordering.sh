# METHOD:PRESET is METHOD --preset PRESET wherever an ordering is named.
cp "$ROOT/data/examples/windows.mtx" a.mtx
sptile convert a.mtx a.h5 -q --reorder pack --preset fast
sptile convert a.mtx b.h5 -q --reorder pack:fast
cmp a.h5 b.h5
sptile reorder a.mtx --method pack:fast --perm b.txt --json | json-has 'method="pack"' 'preset="fast"'
sptile reorder a.mtx --method pack --preset fast --perm a.txt -q
cmp a.txt b.txt
sptile stats a.mtx --reorder pack:fast --json | json-has 'order="pack:fast"'
sptile spy a.mtx --reorder pack:fast -o a.svg.png -q
sptile report a.mtx --reorder pack:fast -n 1 -o a.html -q
sptile convert a.mtx c.h5 --reorder pack: || echo $?
sptile convert a.mtx c.h5 --reorder pack:quick || echo $?
sptile convert a.mtx c.h5 --reorder rcm:fast || echo $?
sptile convert a.mtx c.h5 --reorder pack:fast --preset thorough || echo $?
