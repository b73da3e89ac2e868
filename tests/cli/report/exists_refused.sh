echo precious > out.html
status=0; sptile report "$ROOT/data/examples/us_states.mtx" -o out.html || status=$?
[ "$(cat out.html)" = precious ] && [ "$(ls -A)" = out.html ]
exit $status
