# The whole command is proposed, with a name for the output.
cp "$ROOT/data/examples/us_states.mtx" a.mtx
sptile convert a.mtx a.h5 -q
propose() { code=0; sptile "$@" 2> message || code=$?; [ $code = 2 ] || echo "exit code $code"; sed -n 2p message; }
propose convert a.mtx
propose convert --format csr,tall:64 'data dir/b 1.mtx.gz' --reorder pack:fast
propose convert a.h5
propose convert - --dtype f64
propose convert ./x.y/graph
propose --quiet export a.h5
# What is proposed is right.
cp a.mtx 'a b.mtx'
sptile convert 'a b.mtx' -q 2> message || sed -n 2p message > proposed.sh
bash proposed.sh
sptile verify 'a b.h5' --against 'a b.mtx' > /dev/null
