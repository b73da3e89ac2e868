mkfifo log.csv
sptile bench "$ROOT/data/examples/us_states.mtx" --csv log.csv
