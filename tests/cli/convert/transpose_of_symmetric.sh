# A symmetric matrix stores nothing twice, ordered or not, and a nearly symmetric one everything.
sptile gen grid2d --side 12 -o a.mtx -q
paths() { sptile info "$1" --json | jq -r '.arrays[].path | select(startswith("/transpose"))'; }
for options in "" "--reorder rcm" "--reorder random --dtype bf16"; do
  # shellcheck disable=SC2086  # several words
  sptile convert a.mtx a.h5 $options --transpose --json --force | jq -c '.symmetric, .transpose'
  paths a.h5
  sptile verify a.h5 > /dev/null
  sptile run a.h5 --transpose --format bittcf --check --repeat 1 --json | json-has checked=true
done
sptile convert a.mtx a.h5 --format bittcf -q --force # serves both without being asked
sptile run a.h5 --transpose --format bittcf --check --repeat 1 --json | json-has checked=true
sptile convert a.mtx a.h5 --format bittcf --reorder rcm --transpose --refreshable --force | grep transpose
paths a.h5
sptile verify a.h5 -v | grep transpose
sed 's/^2 1 .*/2 1 0.5/' a.mtx > b.mtx
cmp -s a.mtx b.mtx && echo "no entry at row 2, column 1"
sptile convert b.mtx b.h5 --format bittcf --transpose --json | jq -c '.symmetric, [.transpose.formats[].name]'
