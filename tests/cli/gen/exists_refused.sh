echo precious > a.mtx
status=0; sptile gen grid2d --side 3 -o a.mtx || status=$?
[ "$(cat a.mtx)" = precious ]
exit $status
