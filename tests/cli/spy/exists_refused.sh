echo precious > out.png
status=0; sptile spy "$ROOT/data/examples/us_states.mtx" -o out.png || status=$?
[ "$(cat out.png)" = precious ] && [ "$(ls -A)" = out.png ]
exit $status
