sptile gen rmat --scale 12 --edges 60000 --shuffle -o a.mtx -q
sptile spy a.mtx -o one.png --reorder rcm --threads 1 -q
sptile spy a.mtx -o two.png --reorder rcm --threads 2 -q
cmp one.png two.png
