sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q
sptile verify a.h5 --json | json-has ok=true 'checks[].name' 'checks[].ok' 'checks[].message'
