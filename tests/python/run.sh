#!/usr/bin/env bash
# Tests of the Python package in a virtual environment that it makes, with the libraries of a build folder. Ends with
# "N passed, N failed, N skipped"; what is skipped, and why, is said on stderr.
#
#   tests/python/run.sh BUILD [PYTEST_ARGUMENT]...
#
# The environment is .venv-tests; what it has once it keeps. torch for the CPU comes from the package index where CUDA 13
# with cuDNN and NCCL is installed: without the libraries of CUDA the wheels are a quarter. Elsewhere put a torch into
# .venv-tests yourself, or its tests are skipped. SPTILE_TEST_PYTHON=python3.12 takes another interpreter (and environment)
# with everything that it has, as it is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[ $# -gt 0 ] || { echo "usage: tests/python/run.sh BUILD [PYTEST_ARGUMENT]..." >&2; exit 2; }
build=$(cd "$1" && pwd)
shift

say() { printf '== Python: %s\n' "$*" >&2; }

environment=$PWD/.venv-tests
needs=(pytest hypothesis numpy scipy h5py mypy)
torch=(torch==2.11.0 nvidia-cufile==1.15.1.6 nvidia-cusparselt-cu13==0.8.0 nvidia-nvshmem-cu13==3.4.5)
torch_needs=(filelock typing-extensions sympy networkx jinja2 fsspec)
geometric=(torch-geometric==2.8.0.post1 aiohttp psutil pyparsing requests tqdm xxhash)

# has MODULE: whether the environment can import it.
has() { "$python" -c "import $1" 2>/dev/null; }
install() { "$python" -m pip install -q --disable-pip-version-check "$@" >&2; }

# The libraries that torch's wheels leave to others when they are installed alone.
cuda_is_installed() {
  local name known
  known=$(/sbin/ldconfig -p)
  for name in libcublas.so.13 libcudart.so.13 libcudnn.so.9 libnccl.so.2; do
    [[ $known == *$name* ]] || return 1
  done
}

# No package index can be reached: that is no fault of the package, but it must be seen.
without_packages() {
  say "SKIP: ${needs[*]} cannot be had, so no test of the Python package is run"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
}

install_torch() {
  has torch && return 0
  cuda_is_installed || { say "torch is not installed, nor CUDA 13 with cuDNN and NCCL, which its wheels for this machine need"; return 1; }
  say "installing torch (760 MB)"
  install --no-deps "${torch[@]}" && install "${torch_needs[@]}" && has torch
}

if [ -n "${SPTILE_TEST_PYTHON:-}" ]; then
  python=$SPTILE_TEST_PYTHON
else
  python=$environment/bin/python
  [ -x "$python" ] || python3 -m venv "$environment" >&2
  has "pytest, hypothesis, numpy, scipy, h5py, mypy" || install "${needs[@]}" || without_packages
  # It compares layers with those of PyG, where that is there.
  if install_torch; then has torch_geometric || install "${geometric[@]}" || true; fi
fi

without_torch=0
if ! has torch; then
  without_torch=1
  say "SKIP: torch is missing, so are all tests of sptile.torch and of training"
fi

results=$(mktemp)
trap 'rm -f "$results"' EXIT
# Other tests may run beside these: threads that spin while they wait would take the cores from them.
export OMP_WAIT_POLICY=passive SPTILE_CACHE=off
export SPTILE_LIBRARY=$build/runtime/libsptile.so.0 SPTILE_TOOLS_LIBRARY=$build/tools/capi/libsptile-tools.so.0
export SPTILE_COMMAND=$build/tools/sptile PYTHONPATH=$PWD/runtime/python${PYTHONPATH:+:$PYTHONPATH}
"$python" -m pytest -q -rs -p no:cacheprovider --junitxml="$results" tests/python "$@" >&2 || true

# A run that did not come to its end counts as one failure.
"$python" - "$results" "$without_torch" <<'END'
import sys
import xml.etree.ElementTree as tree

try:
    suite = tree.parse(sys.argv[1]).getroot().find("testsuite").attrib
    count = {name: int(suite[name]) for name in ("tests", "failures", "errors", "skipped")}
except (AttributeError, KeyError, tree.ParseError):
    count = {"tests": 1, "failures": 1, "errors": 0, "skipped": 0}
failed = count["failures"] + count["errors"] + (count["tests"] == 0)
passed = max(0, count["tests"] - failed - count["skipped"])
print(f"{passed} passed, {failed} failed, {count['skipped'] + int(sys.argv[2])} skipped")
sys.exit(failed > 0)
END
