sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q
echo precious > out.mtx
status=0; sptile export a.h5 out.mtx || status=$?
[ "$(cat out.mtx)" = precious ]
exit $status
