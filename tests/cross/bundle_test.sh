#!/usr/bin/env bash
# Writes bundles with the command of this machine and with an emulated one, and uses each with the other. Exits with 77 if
# there is no build for this machine.
#
#   tests/cross/bundle_test.sh BUILD CROSS_BUILD
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$(realpath -m "${1:?usage: bundle_test.sh BUILD CROSS_BUILD}")
there=$(realpath "${2:?usage: bundle_test.sh BUILD CROSS_BUILD}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() { echo "FAILED: $*" >&2; exit 1; }
native=$here/tools/sptile product=$here/tests/cross/product_of_bundle
emulated=$there/tests/cross/sptile
if ! [ -x "$native" ] || ! [ -x "$product" ]; then echo "SKIPPED: $here has no build with tests" >&2; exit 77; fi

for matrix in us_states worked fem_plate; do
  input=$root/data/examples/$matrix.mtx
  "$native" convert -q "$input" native.h5 --format all --reorder rcm --force
  "$native" plan -q native.h5 -n 16 --threads 1 --kernel cpu.csr.generic
  "$emulated" verify native.h5 --against "$input"
  "$emulated" run native.h5 -n 16 --check
  "$emulated" run native.h5 -n 16 --threads 1 --kernel cpu.csr.generic --check --json | jq -e '.plan == "stored"' >/dev/null ||
    fail "$matrix: the stored plan is not used"
done

# A of integers: all kernels give the same numbers on both machines.
for matrix in us_states worked; do
  "$native" convert -q "$root/data/examples/$matrix.mtx" native.h5 --format all --reorder rcm --force
  "$emulated" convert -q "$root/data/examples/$matrix.mtx" emulated.h5 --format all --reorder rcm --force
  cmp native.h5 emulated.h5 || fail "$matrix: the bundles differ"
  "$product" native.h5 >native.txt
  "$there/tests/cross/product" native.h5 >emulated.txt
  [ -s native.txt ] || fail "$matrix: no product"
  cmp native.txt emulated.txt || fail "$matrix: the products differ"
done
"$native" verify emulated.h5 --against "$root/data/examples/worked.mtx"

# Kernels for SVE are available where vectors have 32 bytes.
has_sve() { QEMU_CPU=$1 "$emulated" doctor --json | jq '.processor.vector_extensions[] | select(.name == "sve") | .available'; }
[ "$(has_sve max,sve256=on)" = true ] || fail "no kernels for SVE"
for cpu in cortex-a57 max,sve128=on,sve256=off,sve512=off max,sve512=on,sve-default-vector-length=64; do
  [ "$(has_sve "$cpu")" = false ] || fail "kernels for SVE on $cpu"
done
