sptile gen grid2d --side 10 -o grid.mtx -q
sptile partition grid.mtx --parts 3 -o parts -q
sptile partition grid.mtx --parts 2 -o parts -q || echo "exit $?"
ls parts
sptile partition grid.mtx --parts 2 -o parts/ --force -q
ls parts
echo precious > parts/notes.txt
sptile partition grid.mtx --parts 2 -o parts --force -q || echo "exit $?"
ls -A . parts
