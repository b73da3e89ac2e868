# A part is a bundle of its local matrix to everything that reads bundles.
sptile gen grid2d --side 16 -o grid.mtx -q
sptile partition grid.mtx --parts 2 --method rows -o parts -q
sptile info parts/part-0001.h5 --json | jq -c '[.rows, .cols, .nnz]'
sptile run parts/part-0001.h5 -n 8 --format csr --repeat 1 --check --json | jq -c .checked
sptile export parts/part-0000.h5 local.mtx -q
cmp <(sptile stats local.mtx --json | jq .nnz) <(echo 464)
h5ls -r parts/part-0000.h5 | awk '{ print $1, $2, $3, $4 }'
