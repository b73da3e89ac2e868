# A second table compares the orderings.
sptile gen grid2d --side 15 --shuffle -o a.mtx -q
sptile bench a.mtx --format csr --reorder identity,rcm,metis --set part-rows=64 -n 4 --repeat 2
