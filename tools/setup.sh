# shellcheck shell=bash disable=SC2034  # scripts that source this file use the package lists
# Sourced by the scripts of this folder: installs missing packages and configures build folders.
# Requires Debian 12 or a relative with apt, and root or sudo on the first run.

sptile_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Packages for the build and the command (Meson finds the library folder of Debian with dpkg-dev), the tests, the builds with
# sanitizers, releases, the cross build for aarch64 and lint.
build_packages=(g++ meson ninja-build pkg-config dpkg-dev libexpected-dev libcli11-dev libfmt-dev nlohmann-json3-dev
  libxxhash-dev libhdf5-dev libtbb-dev zlib1g-dev libbz2-dev liblzma-dev libzstd-dev libminizip-dev libssl-dev
  libboost-graph-dev libmetis-dev libpng-dev)
test_packages=(doctest-dev libeigen3-dev hdf5-tools libopenmpi-dev openmpi-bin patch python3 python3-venv python3-h5py jq cmake make mandoc bzip2 xz-utils zstd)
sanitizer_packages=(clang-14 libclang-rt-14-dev libomp-14-dev llvm-14)
release_packages=(git dpkg-dev debhelper dh-python python3-venv)
cross_packages=(crossbuild-essential-arm64 qemu-user)
# For arm64, in addition to the libraries of build_packages. NumPy with its Python is required to test the
# wheel.
cross_libraries=(libc6-dev libstdc++-12-dev libgomp1 doctest-dev python3-numpy)
lint_packages=(clang-format-14 clang-tidy-14 libomp-14-dev shellcheck git python3 python3-venv)

# Directory of the libraries for aarch64, unpacked by tools/cross/prepare.sh, and the options of a cross
# build.
sysroot=$sptile_root/build-aarch64-sysroot
cross_options=(--cross-file="$sysroot/constants.ini" --cross-file="$sptile_root/tools/cross/aarch64-linux-gnu.ini")

say() { printf '== %s\n' "$*" >&2; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# install_packages NAME...: installs missing packages; uses the network only if one is missing.
install_packages() {
  local name missing=()
  for name in "$@"; do
    dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  say "installing ${missing[*]}"
  as_root apt-get update -qq >&2
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}

# configure FOLDER OPTION...: configures a build directory, or keeps it if the options equal those of the last
# call.
configure() {
  local folder="$sptile_root/$1" stamp="$sptile_root/$1/.sptile-options"
  shift
  if [ ! -f "$folder/build.ninja" ]; then
    meson setup "$folder" "$sptile_root" "$@" >&2
  elif [ "$(cat "$stamp" 2>/dev/null)" != "$*" ]; then
    meson setup --reconfigure "$folder" "$sptile_root" "$@" >&2
  fi
  printf '%s\n' "$*" > "$stamp"
}
