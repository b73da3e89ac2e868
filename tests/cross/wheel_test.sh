#!/usr/bin/env bash
# Checks a wheel for aarch64: its tag, the machine of each program and library, and where they look for libraries. Then uses it
# under QEMU with Debian's Python for arm64 (tools/cross/prepare.sh).
#
#   tests/cross/wheel_test.sh WHEEL
set -euo pipefail
wheel=$(realpath "${1:?usage: wheel_test.sh WHEEL}")
# shellcheck source=tools/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() { echo "FAILED: $*" >&2; exit 1; }

case $(basename "$wheel") in
  sptile-*-py3-none-manylinux_*_aarch64.whl) ;;
  *) fail "its tag is not py3-none-manylinux for aarch64: $wheel" ;;
esac
python3 -m zipfile -e "$wheel" site
mv site/sptile-*.data/purelib/sptile site  # as an installer does

# Libraries of every Linux with this glibc; the wheel has all others.
system='lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so\.[0-9]+|ld-linux-aarch64\.so\.1|libz\.so\.1'
count=0
while read -r file; do
  header=$(readelf -h "$file" 2>/dev/null) || continue
  count=$((count + 1))
  grep -q 'Machine: *AArch64' <<<"$header" || fail "$file is for another machine"
  dynamic=$(readelf -d "$file")
  while read -r needed; do
    [[ $needed =~ ^($system)$ ]] || [ -n "$(find site -name "$needed")" ] || fail "$file needs $needed, which the wheel lacks"
  done < <(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' <<<"$dynamic")
  while read -r path; do
    [[ $path =~ ^\$ORIGIN ]] || fail "$file looks for libraries in $path"
  done < <(sed -n 's/.*(R[UN]*PATH).*\[\(.*\)\]/\1/p' <<<"$dynamic" | tr ':' '\n')
done < <(find site -type f)
[ "$count" -gt 10 ] || fail "$count programs and libraries"
echo "$count programs and libraries for aarch64"

# QEMU does not emulate programs that an emulated program starts: the helper becomes a script.
emulate=(qemu-aarch64 -L "$sysroot")
helper=$(find site -name sptile-hdf5)
mv "$helper" "$helper.aarch64"
printf '#!/bin/sh\nexec %s "%s" "$@"\n' "${emulate[*]}" "$PWD/$helper.aarch64" >"$helper"
chmod +x "$helper" "$helper.aarch64"
# Debian selects a BLAS when its package is installed, not when it is unpacked.
libraries=/usr/lib/aarch64-linux-gnu/blas:/usr/lib/aarch64-linux-gnu/lapack
env -i HOME="$folder" PATH="$PATH" PYTHONPATH=site "${emulate[@]}" -E LD_LIBRARY_PATH="$libraries" "$sysroot/usr/bin/python3.11" - "$sptile_root/data/examples/fem_plate.mtx" <<'END'
import platform
import sys

import numpy as np

import sptile

assert platform.machine() == "aarch64", platform.machine()
bundle = sptile.convert(sys.argv[1], reorder="degree")
B = np.random.default_rng(1).uniform(-1, 1, (bundle.shape[1], 16)).astype(np.float32)
indptr, indices, values = bundle.csr()
expected = np.add.reduceat(values[:, None] * B[indices], indptr[:-1])  # no row is empty
for format in ("csr", "bittcf"):
    C = bundle.plan(16, format=format)(B)
    assert np.allclose(C, expected, rtol=1e-4, atol=1e-5 * abs(expected).max()), format
print(f"sptile {sptile.__version__} on {platform.machine()}: products are right")
END
