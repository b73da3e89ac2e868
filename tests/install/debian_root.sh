# shellcheck shell=bash
# Sourced by bare_debian.sh and packages_test.sh: creates minimal Debians and runs commands in them.

say() { printf '== bare Debian: %s\n' "$*" >&2; }
skip() { say "SKIPPED: $*"; exit 77; }

# make_debian SUITE FOLDER: creates the minimal variant of a Debian with debootstrap; exits with 77 if that is impossible.
# With CACHE=FOLDER in the environment, ccache is installed and uses that folder.
make_debian() {
  local suite=$1 folder=$2 mirror
  [ "$(id -u)" -eq 0 ] || skip "only root can make one"
  command -v debootstrap >/dev/null || skip "debootstrap is not installed"
  unshare --mount --pid --fork true 2>/dev/null || skip "namespaces are not allowed here"
  rm -rf --one-file-system "$folder"
  mkdir -p "$folder"
  # The mirror of this machine, if it runs Debian 12.
  # shellcheck disable=SC2016
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Created-By: Packages' 2>/dev/null | head -n 1 || true)
  say "debootstrap of $suite (minimal variant)"
  debootstrap --variant=minbase ${CACHE:+--include=ccache} "$suite" "$folder" ${mirror:+"$mirror"} >"$folder.log" 2>&1 ||
    { tail -n 5 "$folder.log" >&2; skip "debootstrap cannot work here"; }
  rm -f "$folder.log"
  # As Debian's installer does, so that the host name is resolved without a network.
  printf '127.0.0.1\tlocalhost %s\n' "$(hostname)" >"$folder/etc/hosts"
  # Additional certificates that pip trusts on this machine.
  if [ -n "${PIP_CERT:-}" ]; then cp "$PIP_CERT" "$folder/certificates"; fi
}

# in_debian FOLDER COMMAND: runs a command that sees only the kernel, devices and network of this machine. Mounts and
# processes end with it.
in_debian() {
  # shellcheck disable=SC2016
  env -i HOME=/root TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    ${PIP_CERT:+PIP_CERT=/certificates} \
    ${CACHE:+CACHE="$CACHE" CCACHE_DIR=/var/cache/ccache} \
    ${CCACHE_IGNOREOPTIONS:+CCACHE_IGNOREOPTIONS="$CCACHE_IGNOREOPTIONS"} \
    ${CCACHE_SLOPPINESS:+CCACHE_SLOPPINESS="$CCACHE_SLOPPINESS"} \
    unshare --mount --pid --fork --kill-child bash -c '
      mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" &&
      { [ -z "${CACHE:-}" ] || { mkdir -p "$1/var/cache/ccache" && mount --bind "$CACHE" "$1/var/cache/ccache"; }; } && exec chroot "$1" bash -c "cd /sptile && $2"' \
    in_debian "$1" "$2"
}
