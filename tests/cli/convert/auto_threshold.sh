# The threshold of a profile: info names the device, not where the file lies.
cat > mine.tsv <<'P'
sptile-profile 1
device cuda 90 A test
number cuda.libra_spmm.mma tf32 threshold_128 3
P
SPTILE_PROFILE=mine.tsv sptile convert "$ROOT/data/examples/fem_plate.mtx" a.h5 --format libra_spmm:auto --json | jq -c '.formats[] | select(.threshold_from) | .threshold_from'
sptile info a.h5 --json | jq -c .choices
