#!/usr/bin/env bash
# Makes a site of the README and docs/, with search, that needs no server: FOLDER/index.html. Links that lead nowhere, and
# headings that are not there, fail. Ends with 77, loudly, where MkDocs cannot be had from a package index.
#
#   tools/site.sh FOLDER
set -euo pipefail
# shellcheck source=tools/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
[ $# -eq 1 ] || { echo "usage: tools/site.sh FOLDER" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)

environment=$sptile_root/.venv-site
[ -x "$environment/bin/python" ] || python3 -m venv "$environment"
"$environment/bin/python" -m pip install -q --disable-pip-version-check 'mkdocs>=1.6,<2' 'mkdocs-material>=9.5,<10' >&2 ||
  { say "SKIPPED: MkDocs cannot be had"; exit 77; }

# The README beside the pages, as the first of them.
pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT
cp -a "$sptile_root/docs/." "$pages"
cp "$sptile_root/README.md" "$pages/index.md"
say "site"
SPTILE_PAGES=$pages NO_MKDOCS_2_WARNING=1 "$environment/bin/mkdocs" \
  build --strict --clean -f "$sptile_root/tools/site/mkdocs.yml" -d "$folder" >&2
echo "$folder/index.html"
