echo precious > out.h5
echo nonsense > bad.mtx
status=0; sptile convert bad.mtx out.h5 --force 2> /dev/null || status=$?
[ "$(cat out.h5)" = precious ] && [ "$(ls -A | tr '\n' ' ')" = "bad.mtx out.h5 " ]
exit $status
