# Typing errors are told first, whatever else is missing or wrong, and with what was perhaps meant.
cp "$ROOT/data/examples/us_states.mtx" a.mtx
sptile convert a.mtx a.h5 -q
said() {
  code=0
  sptile "$@" 2> message > /dev/null || code=$?
  [ $code = 2 ] || echo "exit code $code: $*"
  head -1 message | sed -E 's/ Known: .*//'
}
said convert --device gpu
said run --device GPU
said run a.h5 --device nvidia
said run a.h5 --n 5
said run --n 5 --format bitcf
said run a.h5 --format all
said run a.h5 --op spmv
said run a.h5 --precision f32
said bench --format auto nowhere.mtx
said convert a.mtx --dtype double
said convert a.mtx --reorder nd
said stats nowhere.mtx --reorder pack:fst
said stats nowhere.mtx --reorder rabit
said reorder a.mtx --reorder rcm
said info --colour always
said run a.h5 -z
said info a.h5 b.h5
said benchmark a.mtx
said show a.h5
said sort a.mtx
said compress a.mtx
said statistics a.mtx
said multiply a.h5
said ls
said gen kronecker
said gen gird2d
said gen rmat
said --json gen rmat --scale 3 --edgs 4
said --format csr convert a.mtx b.h5
said list kernls
said list kernels --format bitcf
