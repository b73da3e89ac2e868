# What does not arrive is told, whatever printed it.
try() {
  status=0
  sptile "$@" > /dev/full || status=$?
  echo "$*: exit $status" >&2
}
try list formats
try --help
try --version
try help convert
try completions bash
try doctor --json
