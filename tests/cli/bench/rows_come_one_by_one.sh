# The row of the first matrix is there while the second one is still awaited.
sptile gen grid2d --side 4 -o a.mtx -q
mkfifo b.mtx
sptile bench a.mtx b.mtx --format csr -n 4 --repeat 1 --csv log.csv > out &
bench=$!
trap 'kill $bench 2> /dev/null || true' EXIT
for _ in $(seq 300); do grep -q '^a.mtx ' out && break; sleep 0.1; done
grep -q '^a.mtx ' out
[ "$(wc -l < log.csv)" = 2 ]
cat a.mtx > b.mtx
wait $bench
grep -c '^[ab].mtx ' out
