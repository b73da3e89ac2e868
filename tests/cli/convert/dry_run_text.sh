sptile convert "$ROOT/data/examples/us_states.mtx" out.h5 --format bittcf --dry-run | sed -E 's/about [0-9.]+ MiB/about <memory>/; s/ +/ /g'  # columns are as wide as times
# What would be refused is refused; what is there stays.
echo precious > old.h5
status=0; sptile convert "$ROOT/data/examples/us_states.mtx" old.h5 --dry-run || status=$?
[ "$(cat old.h5)" = precious ]
sptile convert "$ROOT/data/examples/us_states.mtx" old.h5 --dry-run --force -q
[ "$(cat old.h5)" = precious ]
ls
exit $status
