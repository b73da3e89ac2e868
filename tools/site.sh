#!/usr/bin/env bash
# Builds a site of the README and docs/, with the reference of C and C++ from the headers: FOLDER/index.html. It needs no
# server, and its search works offline. Links without a target and missing headings are errors. Exits with 77 if MkDocs
# cannot be installed from a package index.
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
  { say "SKIPPED: MkDocs cannot be installed"; exit 77; }

pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT
cp -a "$sptile_root/docs/." "$pages"
cp "$sptile_root/README.md" "$pages/index.md"
cp "$sptile_root/tools/site/extra.css" "$pages"
# Generated pages of the reference; tools/site/pages.py links to them.
headers=$sptile_root/tools/site/headers.py
python3 "$headers" "C reference" "$sptile_root"/{runtime/include/sptile.h,tools/capi/sptile_tools.h} >"$pages/reference/c.md"
python3 "$headers" "C++ reference" "$sptile_root/runtime/include/sptile.hpp" >"$pages/reference/cpp.md"
say "site"
SPTILE_PAGES=$pages NO_MKDOCS_2_WARNING=1 "$environment/bin/mkdocs" \
  build --strict --clean -f "$sptile_root/tools/site/mkdocs.yml" -d "$folder" >&2
echo "$folder/index.html"
