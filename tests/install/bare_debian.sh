#!/usr/bin/env bash
# Runs the commands of the README in a minimal Debian 12: clones the project, runs tools/quickstart.sh, then
# tools/run-tests.sh --quick with the suites that depend on the installed packages and programs, and ends with the last line
# of that. Exits with 77 if such a Debian cannot be created.
#
#   tests/install/bare_debian.sh FOLDER      creates the Debian in FOLDER and removes it at the end, unless KEEP=1;
#                                            CACHE=FOLDER is a ccache folder to compile with
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=${1:?usage: bare_debian.sh FOLDER}

# shellcheck source=tests/install/debian_root.sh
. "$root/tests/install/debian_root.sh"

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
[ -n "${KEEP:-}" ] || trap 'rm -rf --one-file-system "$folder"' EXIT
make_debian bookworm "$folder"
git clone -q --no-hardlinks "file://$root" "$folder/sptile"

start=$SECONDS
say "tools/quickstart.sh"
in_debian "$folder" tools/quickstart.sh >&2
say "tools/quickstart.sh took $((SECONDS - start)) s"
start=$SECONDS
suites='docs hostile install'
say "tools/run-tests.sh --quick $suites"
in_debian "$folder" "tools/run-tests.sh --quick $suites"
say "tools/run-tests.sh --quick $suites took $((SECONDS - start)) s"
