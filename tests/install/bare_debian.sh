#!/usr/bin/env bash
# Tries the README's commands as a new user would: makes a Debian 12 that has nothing installed, clones the project
# there, runs tools/quickstart.sh and then tools/run-tests.sh --quick, whose closing line is this script's, too.
# Exit code 77, loudly, where such a Debian cannot be made.
#
#   tests/install/bare_debian.sh FOLDER      FOLDER gets the Debian and is removed at the end; KEEP=1 keeps it
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=${1:?usage: bare_debian.sh FOLDER}

say() { printf '== bare Debian: %s\n' "$*" >&2; }
skip() { say "SKIPPED: $*"; exit 77; }

[ "$(id -u)" -eq 0 ] || skip "only root can make one"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
unshare --mount --pid --fork true 2>/dev/null || skip "namespaces are not allowed here"

rm -rf --one-file-system "$folder"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
[ -n "${KEEP:-}" ] || trap 'rm -rf --one-file-system "$folder"' EXIT

# From where this machine gets its own packages, if that is a Debian 12.
# shellcheck disable=SC2016
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Created-By: Packages' 2>/dev/null | head -n 1 || true)
say "debootstrap (minimal variant)"
debootstrap --variant=minbase bookworm "$folder" ${mirror:+"$mirror"} >"$folder.log" 2>&1 ||
  { tail -n 5 "$folder.log" >&2; skip "debootstrap cannot work here"; }
rm -f "$folder.log"
git clone -q --no-hardlinks "file://$root" "$folder/sptile"

# in_debian COMMAND: with nothing of this machine but its kernel, devices and network. Mounts and processes end with it.
in_debian() {
  # shellcheck disable=SC2016
  env -i HOME=/root TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    unshare --mount --pid --fork --kill-child bash -c '
      mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && exec chroot "$1" bash -c "cd /sptile && $2"' \
    in_debian "$folder" "$1"
}

start=$SECONDS
say "tools/quickstart.sh"
in_debian tools/quickstart.sh >&2
say "tools/quickstart.sh took $((SECONDS - start)) s"
start=$SECONDS
say "tools/run-tests.sh --quick"
in_debian 'tools/run-tests.sh --quick'
say "tools/run-tests.sh --quick took $((SECONDS - start)) s"
