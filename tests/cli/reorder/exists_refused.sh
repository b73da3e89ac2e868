echo precious > out.mtx
echo precious > order.txt
status=0
sptile reorder "$ROOT/data/examples/us_states.mtx" --method rcm -o out.mtx || status=$?
sptile reorder "$ROOT/data/examples/us_states.mtx" --method rcm -o new.mtx --perm order.txt || status=$?
[ "$(cat out.mtx order.txt)" = "$(printf 'precious\nprecious')" ] && [ "$(ls -A | wc -l)" = 2 ]
exit $status
