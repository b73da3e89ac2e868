# A file that is no log is neither cut nor added to, not even one without a line end.
printf 'precious' > log.csv
status=0; sptile bench "$ROOT/data/examples/us_states.mtx" --csv log.csv || status=$?
[ "$(cat log.csv)" = precious ]
exit $status
