#!/usr/bin/env bash
# Prepares cross builds for aarch64: installs Debian's cross compiler and QEMU, then downloads Debian's arm64 packages of the
# libraries that the build needs and unpacks them in build-aarch64-sysroot. Adds no architecture to this machine. Downloads nothing
# if the folder already has the packages. Exits with 77 if something cannot be installed or downloaded.
#
#   tools/cross/prepare.sh [PACKAGE]...     PACKAGE: arm64 packages in addition to the libraries
#
# Afterwards "${cross_options[@]}" of tools/setup.sh are the options of `meson setup` for a cross build.
set -euo pipefail
# shellcheck source=tools/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"

skip() { say "SKIPPED: $*"; exit 77; }

install_packages "${cross_packages[@]}" || skip "${cross_packages[*]} cannot be installed"

# write_constants: writes the machine-dependent settings that tools/cross/aarch64-linux-gnu.ini includes.
write_constants() {
  local prefix=
  if command -v ccache >/dev/null; then prefix="'ccache'"; fi
  printf "[constants]\nccache = [%s]\nsysroot = '%s'\n" "$prefix" "$sysroot" >"$sysroot/constants.ini"
}

packages=("${cross_libraries[@]}" "$@")
for package in "${build_packages[@]}"; do
  case $package in dpkg-dev) ;; *-dev) packages+=("$package") ;; esac
done
if [ "$(cat "$sysroot/packages" 2>/dev/null)" = "${packages[*]}" ]; then write_constants; exit; fi

# The libraries must match the libc of the cross compiler.
grep -qs 'VERSION_CODENAME=bookworm' /etc/os-release || skip "the libraries for arm64 are those of Debian 12"
# shellcheck disable=SC2016
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Created-By: Packages' | head -n 1)
[ -n "$mirror" ] || skip "apt has no package lists of Debian 12"

# A separate apt state without installed packages.
apt=$sysroot/apt
rm -rf "$sysroot"
trap 'rm -rf "$apt"' EXIT
mkdir -p "$apt/lists/partial" "$apt/archives/partial"
: >"$apt/status"
echo "deb [arch=arm64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bookworm main" >"$apt/sources.list"
cat >"$apt/config" <<END
APT { Architecture "arm64"; Architectures { "arm64"; }; Install-Recommends "false"; Sandbox::User ""; };
Dir { State "$apt"; State::lists "$apt/lists"; State::status "$apt/status"; Cache "$apt"; Cache::archives "$apt/archives"; };
Dir::Etc { SourceList "$apt/sources.list"; SourceParts "/dev/null"; };
END
export APT_CONFIG=$apt/config
say "libraries of Debian 12 for arm64"
apt-get -qq update >&2 || skip "the package lists for arm64 cannot be downloaded"
apt-get -qq -y --download-only install "${packages[@]}" >&2 || skip "the packages for arm64 cannot be downloaded"
for archive in "$apt"/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$archive" | tar -x -C "$sysroot" --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*'
done
# The linker would follow absolute links outside the sysroot.
while read -r link; do ln -snfr "$sysroot$(readlink "$link")" "$link"; done < <(find "$sysroot" -type l -lname '/*')
# Some CMake files of Debian contain the installation directory.
find "$sysroot/usr/lib" -name '*.cmake' -exec sed -i "s|set(_IMPORT_PREFIX \"/usr\")|set(_IMPORT_PREFIX \"$sysroot/usr\")|" {} +
write_constants
echo "${packages[*]}" >"$sysroot/packages"
