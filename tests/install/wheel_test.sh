#!/usr/bin/env bash
# Installs a wheel into a fresh environment in a temporary folder and uses it there: a conversion, a product, the command, the
# time that importing takes. Looks into it, too: its tag and size, what it links, that it is typed.
#
#   tests/install/wheel_test.sh WHEEL
set -euo pipefail
wheel=$(realpath "${1:?usage: wheel_test.sh WHEEL}")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() { echo "FAILED: $*" >&2; exit 1; }

case $(basename "$wheel") in
  sptile-*-py3-none-manylinux_*_x86_64.whl) ;;
  *) fail "its tag is not py3-none-manylinux: $wheel" ;;
esac
bytes=$(stat -c %s "$wheel")
echo "$bytes bytes"
[ "$bytes" -lt $((30 << 20)) ] || fail "a wheel has less than 30 MiB"

python3 -m venv environment
environment/bin/pip install -q --disable-pip-version-check "$wheel" scipy
package=$(environment/bin/python -I -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
[ -f "$package/sptile/py.typed" ] || fail "py.typed is missing"
while read -r library; do
  needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  if grep -E '^lib(python|torch|c10|cudart|cuda|gnutls|krb5)' <<<"$needed" >&2; then fail "$library needs these"; fi
done < <(find "$package"/sptile* "$package"/.sptile* -name '*.so*' -o -path '*scripts/sptile' -o -name sptile-hdf5)

# Nothing of the project or of another installation may help.
run() { env -i HOME="$folder" PATH="$folder/environment/bin:/usr/bin:/bin" "$@"; }
run sptile --version
run sptile convert "$root/data/examples/fem_plate.mtx" plate.h5 -q --reorder pack
run sptile run plate.h5 --op spmm -n 16 --check -q
run python -I - "$root/data/examples/fem_plate.mtx" <<'END'
import subprocess
import sys

import numpy as np

import sptile

A = sptile.read(sys.argv[1])
B = np.random.default_rng(1).uniform(-1, 1, (A.shape[1], 16))
for bundle in (sptile.open("plate.h5"), sptile.convert(A, reorder="degree")):
    C = bundle.plan(16, format="bittcf")(B.astype(np.float32))
    assert np.allclose(C, A @ B, atol=1e-4 * abs(A).sum(axis=1).max()), abs(C - A @ B).max()

seconds = min(
    float(subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True).stdout)
    for code in 5 * ["import time; t = time.perf_counter(); import sptile; print(time.perf_counter() - t)"]
)
print(f"import sptile: {1000 * seconds:.1f} ms")
END
