#!/usr/bin/env bash
# Installs the output of tools/release.sh in minimal Debians and computes a first product: the Debian packages in Debian
# 12, the wheel in Debian 12 and 13. Prints the time of each step. Exits with 77 if such Debians cannot be created.
#
#   tests/install/packages_test.sh RELEASE FOLDER      RELEASE contains the packages; FOLDER is removed at the end
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
release=$(cd "${1:?usage: packages_test.sh RELEASE FOLDER}" && pwd)
folder=${2:?usage: packages_test.sh RELEASE FOLDER}
# shellcheck source=tests/install/debian_root.sh
. "$root/tests/install/debian_root.sh"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
trap 'rm -rf --one-file-system "$folder"' EXIT

# fresh SUITE: creates a Debian in $debian with the packages and the first product in /sptile, and updates apt.
fresh() {
  debian=$folder/$1
  make_debian "$1" "$debian"
  mkdir "$debian/sptile"
  cp "$release"/*.deb "$release"/*.whl "$root/debian/tests/first-product" "$debian/sptile"
  rm -f "$debian"/sptile/*dbgsym*.deb
  in_debian "$debian" 'apt-get update -qq' >&2
}

# timed WHAT COMMAND: runs a command in the Debian and prints its time.
timed() {
  local start=$EPOCHREALTIME
  in_debian "$debian" "export DEBIAN_FRONTEND=noninteractive; $2" >&2
  awk -v what="$1" -v from="$start" -v to="$EPOCHREALTIME" 'BEGIN { printf "%s: %.1f s\n", what, to - from }'
}

install='apt-get install -y -qq --no-install-recommends'
fresh bookworm
timed "Debian 12, packages, apt install" "$install ./*.deb"
timed "Debian 12, packages, first product" ./first-product
in_debian "$debian" "apt-get remove -y -qq sptile '*sptile*' >/dev/null; ! command -v sptile" >&2

for suite in bookworm trixie; do
  fresh "$suite"
  timed "$suite, apt install python3-venv" "$install python3-venv"
  timed "$suite, wheel, pip install" 'python3 -m venv environment && environment/bin/pip install -q --disable-pip-version-check ./sptile-*.whl'
  # shellcheck disable=SC2016
  timed "$suite, wheel, first product" 'PATH=/sptile/environment/bin:$PATH ./first-product'
done
