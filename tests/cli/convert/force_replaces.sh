echo precious > out.h5
sptile convert "$ROOT/data/examples/us_states.mtx" out.h5 --force -q
sptile verify out.h5 > /dev/null
[ "$(ls -A)" = out.h5 ]
