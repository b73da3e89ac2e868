sptile convert "$ROOT/data/examples/us_states.mtx" out.h5
[ "$(stat -c %a out.h5)" = 444 ]
