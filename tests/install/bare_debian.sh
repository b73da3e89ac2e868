#!/usr/bin/env bash
# Tries the README's commands as a new user would: makes a Debian 12 that has nothing installed, clones the project
# there, runs tools/quickstart.sh and then tools/run-tests.sh --quick, whose closing line is this script's, too.
# Exit code 77, loudly, where such a Debian cannot be made.
#
#   tests/install/bare_debian.sh FOLDER      FOLDER gets the Debian and is removed at the end; KEEP=1 keeps it,
#                                            CACHE=FOLDER is a cache of ccache to compile with
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
say "tools/run-tests.sh --quick"
in_debian "$folder" 'tools/run-tests.sh --quick'
say "tools/run-tests.sh --quick took $((SECONDS - start)) s"
