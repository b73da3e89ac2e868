# f64 keeps every digit; f32 rounds.
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 0.1234567890123456\n2 1 -1e-300\n' > a.mtx
sptile convert a.mtx a.h5 --dtype f64 -q
sptile export a.h5 - --from bmat
sptile convert a.mtx b.h5 -q
sptile export b.h5 -
