# Kernels by format, operation, device and precision; every table by a part of the name.
names() { sptile list "$@" --json | jq -r '[.[] | arrays | .[].name] | join(" ")'; }
every=$(sptile list kernels --json | jq '.kernels | length')
matching() { # expected, by jq, from all of them; then what is listed
  local wanted=$1
  shift
  local found
  found=$(sptile list kernels "$@" --json | jq -c '[.kernels[].name]')
  [ "$found" = "$(sptile list kernels --json | jq -c "[.kernels[] | select($wanted) | .name]")" ] || echo "$*: $found"
  [ "$found" != "[]" ] && [ "$(jq length <<< "$found")" -lt "$every" ] || echo "$*: no filter"
}
matching '.format == "bmat"' --format bmat
matching '.format == "bmat" or .format == "csr"' --format bmat,csr
matching '.op == "sddmm"' --op sddmm
matching '.device == "cuda"' --device cuda
matching '.device == "cpu" and .op == "spmm" and .format == "tall"' --device cpu --op spmm --format tall
matching '.precisions | index("fp64")' --precision fp64
matching '.name | contains("staged")' staged
matching '(.name | contains("staged")) and .format == "bmat"' staged --format bmat
# Filters of kernels alone mean the kernels.
[ "$(sptile list --device cuda --json | jq -c 'keys - ["schema_version", "verb"]')" = '["kernels"]' ] || echo "not kernels alone"
names formats libra
names reorderers metis
names devices cu
sptile list kernels nobody --json | jq -c .kernels
sptile list formats --device cpu || echo "exit code $?"
