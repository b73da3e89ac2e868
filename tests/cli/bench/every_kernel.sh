# Each kernel that this machine has is measured by itself, and agrees with the reference.
sptile bench "$ROOT/data/examples/us_states.mtx" --format csr,bmat --kernel all -n 4 --repeat 1 --json > out.json
[ "$(jq -c '[.rows[] | .kernel] | sort' out.json)" = \
  "$(sptile list kernels --json | jq -c '[.kernels[] | select(.available and .device == "cpu" and .op == "spmm" and
     (.format == "csr" or .format == "bmat")) | .name] | sort')" ]
jq -e 'all(.rows[]; .wanted_kernel == .kernel and .rel_err <= .tolerance)' out.json > /dev/null
