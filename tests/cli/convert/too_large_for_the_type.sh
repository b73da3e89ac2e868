# Always said, counted, and refused with --strict: then nothing is written.
head='%%%%MatrixMarket matrix coordinate real general\n'
printf "${head}2 2 3\n1 2 70000\n2 1 -1e30\n2 2 inf\n" > half.mtx
printf "${head}2 2 2\n1 2 1\n2 1 1e300\n" > wide.mtx
sptile convert wide.mtx wide.h5 --dtype f64 -q
try() {
  echo "-- $*" >&2
  sptile convert "$@" out.h5 --format bittcf -q --json --force | json-has overflowed="$overflowed"
  rm out.h5
  status=0; sptile convert "$@" out.h5 --format bittcf -q --strict || status=$?
  echo $status
  if [ "$overflowed" = 0 ]; then rm out.h5; else [ ! -e out.h5 ]; fi
}
overflowed=2 try half.mtx --dtype f16
overflowed=0 try half.mtx --dtype bf16
overflowed=1 try wide.mtx --dtype f32
overflowed=1 try wide.mtx --dtype bf16
overflowed=1 try wide.h5 --dtype f16
overflowed=0 try wide.mtx --dtype f64
