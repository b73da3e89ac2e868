echo precious > out.h5
status=0; sptile convert "$ROOT/data/examples/us_states.mtx" out.h5 || status=$?
[ "$(cat out.h5)" = precious ] && [ "$(ls -A)" = out.h5 ]
exit $status
