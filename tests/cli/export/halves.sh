# The group /csr keeps f32, a half format gives what it holds.
printf '%%%%MatrixMarket matrix coordinate real general\n1 2 2\n1 1 0.1\n1 2 3\n' > a.mtx
sptile convert a.mtx a.h5 --dtype bf16 -q
sptile export a.h5 -
sptile export a.h5 - --from bittcf
