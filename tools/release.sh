#!/usr/bin/env bash
# Makes a release of the commit that is checked out: sources, wheel, Debian packages, the list of what they are made with
# (SBOM, CycloneDX), SHA256SUMS. All of it twice, in different folders and without a compiler cache the second time: the
# same commit must give the same bytes, else this fails and says which file does not.
#
#   tools/release.sh [--once] FOLDER [MESON_OPTION]...
#
# --once makes it once. Options go to the wheel (-Dgpu_arch=90); with -Dcuda=disabled packages have no kernels for GPUs,
# either. Needs what quickstart.sh installs, git, dpkg-dev, debhelper, dh-python, and what tools/wheel.sh needs.
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
[ -z "$(git status --porcelain)" ] || { say "there are changes that are not committed"; exit 1; }
install_packages "${build_packages[@]}" "${release_packages[@]}"

version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" meson.build | head -n 1)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C.UTF-8 TZ=UTC
umask 022

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# make_all FOLDER SCRATCH: everything, built in a folder that is removed.
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
  (cd "$out" && sha256sum -- *.tar.* *.deb *.dsc *.whl *.json >SHA256SUMS)
  rm -rf "$scratch"
}

make_all "$folder" "$work/once"
if ! $once; then
  CCACHE_DISABLE=1 make_all "$work/again" "$work/another-folder"
  say "the same bytes again?"
  diff "$folder/SHA256SUMS" "$work/again/SHA256SUMS" || { say "these differ"; exit 1; }
fi
cat "$folder/SHA256SUMS"
