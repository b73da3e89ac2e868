mkfifo log.csv
timeout 20 sptile bench "$ROOT/data/examples/us_states.mtx" --csv log.csv
