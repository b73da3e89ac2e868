#!/usr/bin/env bash
# Runs test_hostile.py with the libraries of a build that has the address sanitizer (clang 14), which sees accesses beyond
# the memory that torch and NumPy allocate for results. Exit code 77: run.sh has not made its environment.
#
#   tests/python/sanitized.sh BUILD
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: tests/python/sanitized.sh BUILD" >&2; exit 2; }
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
python=$root/.venv-tests/bin/python
[ -x "$python" ] || exit 77

export SPTILE_LIBRARY=$build/runtime/libsptile.so.0 PYTHONPATH=$root/runtime/python
export SPTILE_TOOLS_LIBRARY=${SPTILE_TOOLS_LIBRARY:-$build/tools/capi/libsptile-tools.so.0}
# Python is not linked with the sanitizer, and frees little when it ends.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0:verify_asan_link_order=0
sanitizer=$(clang-14 -print-file-name="libclang_rt.asan-$(uname -m).so")
cd "$root/tests/python"
LD_PRELOAD=$sanitizer "$python" -m pytest -q -p no:cacheprovider test_hostile.py
