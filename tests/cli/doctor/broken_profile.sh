# What does not work is told first, then the exit code; variables that nobody reads are named.
echo nonsense > mine.tsv
status=0
SPTILE_PROFILE=mine.tsv SPTILE_THREAD=2 sptile doctor --json > out.json || status=$?
jq -r '.ok, .problems[], (.environment[] | select(.name | startswith("SPTILE_T") or startswith("SPTILE_P")) | "\(.name) \(.good)")' out.json
exit $status
