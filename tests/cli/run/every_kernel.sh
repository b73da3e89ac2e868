# Each kernel that this machine can run, forced by name, at odd N.
sptile gen planted --rows 2000 --edges 20000 --mix 0.3 --shuffle -o a.mtx -q
sptile convert a.mtx a.h5 -q --reorder degree
sptile list kernels --json | jq -r '.kernels[] | select(.available and .device == "cpu") | .name + " " + .op + " " + .format' |
while read -r kernel op format; do
  m=0; case $op in gatv2_edges*) m=5 ;; esac  # at most 16, and n by default
  for n in 7 129; do
    sptile run a.h5 --op "$op" --format "$format" --kernel "$kernel" -n $n --m $m --check --repeat 1 --json |
      json-has checked=true "kernel=\"$kernel\""
  done
done
