# Every verb that writes files meets the limit on their size: exit code 5, a message that says so, and nothing left.
mkdir work && cd work
sptile gen random --rows 400 --cols 400 --nnz 4000 -o a.mtx -q
sptile convert a.mtx a.h5 -q
sptile bench a.mtx --format csr -n 1,2,4,8 --repeat 1 --csv rows.csv -q > /dev/null
kernel=$(sptile list kernels --json | jq -r '[.kernels[] | select(.format == "csr" and .available)][0].name')
before=$(ls -A)

# refused KIB MESSAGE VERB ...
refused() {
  local limit=$1 message=$2 code=0
  shift 2
  { ( ulimit -f "$limit"; exec sptile "$@" -q ) 2>&1 > ../out | cat > ../errors; } || code=$?
  if [ $code != 5 ] || ! grep -qx "$message" ../errors; then echo "$*: exit code $code:"; cat ../errors; fi
  [ "$(ls -A)" = "$before" ] || { echo "$* left:"; ls -A; }
}
too_large='.*: File too large'
refused 1 "out.h5: $too_large" convert a.mtx out.h5
refused 1 "a.h5: $too_large" convert a.mtx a.h5 --force
refused 1 "out.mtx: $too_large" reorder a.mtx --method degree -o out.mtx
refused 1 "out.h5: $too_large" reorder a.mtx --method degree -o out.h5
refused 1 "out.txt: $too_large" reorder a.mtx --method degree --perm out.txt
refused 1 "out.mtx: $too_large" export a.h5 out.mtx
refused 1 "out.mtx: $too_large" gen random --rows 400 --cols 400 --nnz 4000 -o out.mtx
refused 1 "out.png: $too_large" spy a.mtx -o out.png --size 1000
refused 1 "out.html: $too_large" report a.mtx -o out.html -n 1
refused 1 "out.svg: $too_large" bench --csv rows.csv --plot out.svg
refused 1 "rows.csv: File too large" bench a.mtx --format csr -n 16 --repeat 1 --csv rows.csv
# A profile is small, and LLVM's OpenMP, which builds with sanitizers have, fails if it cannot write a file of its own.
if ldd "$(command -v sptile)" | grep -q libgomp; then
  refused 0 "out.tsv: $too_large" calibrate --quick --only "$kernel" -o out.tsv
fi
refused 1 "<stdout>: $too_large" gen random --rows 400 --cols 400 --nnz 4000
refused 1 "<stdout>: $too_large" export a.h5 -
refused 1 "<stdout>: cannot write the result" list kernels --json
sptile verify a.h5 --against a.mtx > ../out
