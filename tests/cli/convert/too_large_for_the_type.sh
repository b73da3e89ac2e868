# Always said, counted, and refused with --strict: then nothing is written.
head='%%MatrixMarket matrix coordinate real general'
printf '%s\n' "$head" '2 2 3' '1 2 70000' '2 1 -1e30' '2 2 inf' > half.mtx
printf '%s\n' "$head" '2 2 2' '1 2 1' '2 1 1e300' > wide.mtx
sptile convert wide.mtx wide.h5 --dtype f64 -q
# try OVERFLOWED FILE OPTION...
try() {
  local overflowed=$1
  shift
  echo "-- $*" >&2
  sptile convert "$@" out.h5 --format bittcf -q --json --force | json-has overflowed="$overflowed"
  rm out.h5
  status=0; sptile convert "$@" out.h5 --format bittcf -q --strict || status=$?
  echo $status
  if [ "$overflowed" = 0 ]; then rm out.h5; else [ ! -e out.h5 ]; fi
}
try 2 half.mtx --dtype f16
try 0 half.mtx --dtype bf16
try 1 wide.mtx --dtype f32
try 1 wide.mtx --dtype bf16
try 1 wide.h5 --dtype f16
try 0 wide.mtx --dtype f64
