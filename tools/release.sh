#!/usr/bin/env bash
# Builds a release of the commit that is checked out: sources, wheel, Debian packages, an SBOM (CycloneDX), release notes
# and SHA256SUMS. Builds everything twice, in different folders and the second time without a compiler cache, and fails
# with the names of the files that differ.
#
#   tools/release.sh [--once] FOLDER [MESON_OPTION]...
#
# --once builds once. Options apply to the wheel (-Dgpu_arch=90); with -Dcuda=disabled the Debian packages have no CUDA
# kernels either. Requires git, dpkg-dev, debhelper, dh-python and the requirements of quickstart.sh and tools/wheel.sh.
set -euo pipefail
# shellcheck source=tools/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

once=false
if [ "${1:-}" = --once ]; then once=true; shift; fi
[ $# -gt 0 ] || { echo "usage: tools/release.sh [--once] FOLDER [MESON_OPTION]..." >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
options=("$@")
cd "$sptile_root"
[ -z "$(git status --porcelain)" ] || { say "uncommitted changes: commit or stash them, a release is made of a commit"; exit 1; }
install_packages "${build_packages[@]}" "${release_packages[@]}"

version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" meson.build | head -n 1)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C.UTF-8 TZ=UTC
umask 022

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# release_notes: prints the section of this version in the changelog, and how to install and verify the files.
release_notes() {
  local section
  section=$(sed -n "/^## ${version//./\\.} /,/^## /{/^## /!p}" docs/changelog.md)
  [ -n "$section" ] || { say "docs/changelog.md has no section \"## $version (DATE)\""; return 1; }
  cat <<END
# sptile $version
$section

## Install

    sha256sum --check SHA256SUMS           # verifies the downloaded files
    pip install ./sptile-$version-py3-none-manylinux_*_x86_64.whl
    apt install ./*.deb                    # Debian 12: command, libraries, headers, Python package

The wheel contains the licence texts of sptile and of all bundled libraries (dist-info/licenses).
END
}

notes=$(release_notes)

# make_all FOLDER SCRATCH: builds everything in a temporary directory.
make_all() {
  local out=$1 scratch=$2 name=sptile-$version profile='' option
  mkdir -p "$out" "$scratch"
  say "$out: sources"
  git archive --format=tar --prefix="$name/" HEAD | gzip -n -9 >"$out/$name.tar.gz"
  tar -xf "$out/$name.tar.gz" -C "$scratch"

  say "$out: Debian packages"
  for option in "${options[@]}"; do
    if [ "$option" = -Dcuda=disabled ]; then profile=-Ppkg.sptile.nocuda; fi
  done
  (cd "$scratch/$name" && dpkg-buildpackage -us -uc -j"$(nproc)" ${profile:+"$profile"}) >"$work/log" 2>&1 ||
    { tail -n 40 "$work/log" >&2; return 1; }
  cp "$scratch"/*.deb "$scratch"/*.dsc "$scratch"/*.tar.xz "$out"
  meson introspect --dependencies "$scratch/$name"/obj-* |
    python3 tools/release/sbom.py "$version" "$SOURCE_DATE_EPOCH" >"$out/$name.cdx.json"

  say "$out: wheel"
  (cd "$scratch/$name" && tools/wheel.sh "$out" "${options[@]}") >&2
  echo "$notes" >"$out/RELEASE_NOTES.md"
  (cd "$out" && sha256sum -- *.tar.* *.deb *.dsc *.whl *.json *.md >SHA256SUMS)
  rm -rf "$scratch"
}

make_all "$folder" "$work/once"
if ! $once; then
  CCACHE_DISABLE=1 make_all "$work/again" "$work/another-folder"
  say "comparing both builds"
  diff "$folder/SHA256SUMS" "$work/again/SHA256SUMS" || { say "the files above differ between the builds"; exit 1; }
fi
cat "$folder/SHA256SUMS"
