#!/usr/bin/env bash
# Installs what tools/release.sh made into Debians that have nothing, and makes a first product there: the Debian packages
# in Debian 12, the wheel in Debian 12 and 13. Says how long it took from the command that installs to that product.
# Exit code 77, loudly, where such Debians cannot be made.
#
#   tests/install/packages_test.sh RELEASE FOLDER      RELEASE has the packages; FOLDER gets the Debians and is removed
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
release=$(cd "${1:?usage: packages_test.sh RELEASE FOLDER}" && pwd)
folder=${2:?usage: packages_test.sh RELEASE FOLDER}
# shellcheck source=tests/install/debian_root.sh
. "$root/tests/install/debian_root.sh"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
trap 'rm -rf --one-file-system "$folder"' EXIT

# fresh SUITE: a Debian in $debian, with the packages, a matrix and the first product in its /sptile, and lists of what
# apt can install.
fresh() {
  debian=$folder/$1
  make_debian "$1" "$debian"
  mkdir "$debian/sptile"
  cp "$release"/*.deb "$release"/*.whl "$root/debian/tests/first-product" "$debian/sptile"
  rm -f "$debian"/sptile/*dbgsym*.deb
  in_debian "$debian" 'apt-get update -qq' >&2
}

# timed WHAT COMMAND: a command in the Debian, and how long it takes.
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
