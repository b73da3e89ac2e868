echo a,b,c > log.csv
status=0; sptile bench "$ROOT/data/examples/us_states.mtx" --csv log.csv || status=$?
[ "$(cat log.csv)" = a,b,c ]
exit $status
