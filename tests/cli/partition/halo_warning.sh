# A bipartite graph whose sides are two parts: nothing is local.
printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n4 4 4\n3 1\n4 1\n3 2\n4 2\n' > a.mtx
sptile partition a.mtx --parts 2 --method rows -o parts -q
