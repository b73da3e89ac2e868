# Short of address space a command does its work or ends with exit code 5 and a reason, whatever it is that does not
# fit: arrays, threads of TBB, of OpenMP or of the C++ library. (HDF5 itself may crash or hang within the few KB that it
# lacks, so convert is not tried at every limit.)
mkdir work && cd work
sptile gen random --rows 3000 --cols 2000 --nnz 60000 -o a.mtx -q
sptile convert a.mtx a.h5 -q
limit=16  # MiB
# The loader and the CUDA runtime crash where they lack a few KB before the program starts; the shell would report that.
until { ( ulimit -v $((limit << 10)); sptile --version ); } > /dev/null 2>&1; do
  limit=$((limit + 4))
  [ $limit -lt 400 ] || { echo "the command cannot be loaded into 400 MiB" >&2; exit 77; }
done

refused=0 done=0
# attempt MIB COMMAND ...
attempt() {
  local code=0 mib=$1
  shift
  ( ulimit -v $((mib << 10)); exec "$@" ) > ../out 2> ../errors || code=$?
  case $code in
    0) done=$((done + 1)) ;;
    5) refused=$((refused + 1)); [ -s ../errors ] || echo "$* in $mib MiB: no reason" ;;
    *) echo "$* in $mib MiB: exit code $code"; cat ../errors ;;
  esac
  rm -f out.*
  [ "$(ls -A | tr '\n' ' ')" = "a.h5 a.mtx " ] || ls -A
}
for more in $(seq 0 3 90); do
  for threads in 2 64; do
    attempt $((limit + more)) sptile export a.h5 out.mtx -q --threads $threads
    attempt $((limit + more)) sptile run a.h5 -q --threads $threads
  done
done
[ $refused -gt 20 ] && [ $done -gt 5 ] || echo "refused $refused, done $done"

# Stacks so large that no thread can be started.
ulimit -s 4000000
attempt 2000 sptile convert a.mtx out.h5 -q
grep -q 'system error' ../errors
