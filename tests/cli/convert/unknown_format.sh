# The message names every format there is.
code=0
sptile convert "$ROOT/data/examples/us_states.mtx" out.h5 --format bittcv 2> message || code=$?
known=$(format-names | paste -sd , | sed 's/,/, /g')
[ "$(head -1 message)" = "sptile convert: --format: unknown format 'bittcv'; did you mean 'bittcf'? Known: all, $known" ] || cat message
exit $code
