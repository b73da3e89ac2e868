#!/usr/bin/env bash
# Installs a wheel into a fresh virtual environment and uses it: a conversion, a product, the command, the import time.
# Also checks its tag, size, metadata, licence texts and the libraries that it links.
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

python3 - "$wheel" <<'END'
import email
import re
import sys
import zipfile

wheel = zipfile.ZipFile(sys.argv[1])
names = set(wheel.namelist())
info = next(name for name in names if name.endswith(".dist-info/METADATA")).rpartition("/")[0]
metadata = email.message_from_bytes(wheel.read(f"{info}/METADATA"))
listed = metadata.get_all("License-File")
assert all(f"{info}/licenses/{name}" in names for name in listed), listed
assert b"Apache License" in wheel.read(f"{info}/licenses/LICENSE")
libraries = [re.sub(r"-[0-9a-f]{8}\.so.*", "", name[12:]) for name in names if name.startswith("sptile.libs/")]
expected = [f"third-party/{name}.txt" for name in ("CLI11", "expected", "nlohmann-json", "xxhash", *libraries)]
missing = sorted(set(expected) - set(listed))
assert len(libraries) > 5 and not missing, f"no licence texts: {missing}"
referenced = {name for text in listed for name in re.findall(rb"common-licenses/([\w.-]*\w)", wheel.read(f"{info}/licenses/{text}"))}
assert all(f"third-party/common-licenses/{name.decode()}.txt" in listed for name in referenced), referenced
folders = {name.rpartition("/")[0] for name in names if re.search(r"libsptile(-cuda)?\.so\.0$", name)}
assert len(folders) == 1, f"libsptile loads libsptile-cuda from its own folder: {folders}"
for field in ("Summary", "Author", "Keywords", "License-Expression", "Requires-Python", "Classifier"):
    assert metadata[field], f"no {field}"
relative = re.findall(r"\]\((?!\w+:)[^)]*\)", re.sub(r"```.*?```", "", metadata.get_payload(), flags=re.DOTALL))
assert not relative and len(metadata.get_payload()) > 1000, f"an index cannot resolve these links: {relative}"
print(f"{len(libraries)} libraries, {len(listed)} licence texts")
END

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

# The command has no CUDA kernels; it reports those of the libsptile in the same wheel.
run sptile doctor --json >doctor.json
run python -I - "$wheel" <<'END'
import json
import pathlib
import sys
import zipfile

library = json.loads(pathlib.Path("doctor.json").read_text())["library"]
assert library["path"].endswith("/.sptile.mesonpy.libs/libsptile.so.0"), library
has_cuda = any("libsptile-cuda" in name for name in zipfile.ZipFile(sys.argv[1]).namelist())
assert library["cuda"] == has_cuda, library
END
