sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q
python3 -c 'd = bytearray(open("a.h5", "rb").read()); d[200] ^= 1; open("bad.h5", "wb").write(d)'
status=0; sptile verify bad.h5 --json > report.json || status=$?
json-has ok=false 'checks[].name' < report.json
exit $status
