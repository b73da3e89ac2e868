# A bundle of the time when /csr said binsparse 0.1 and the root said nothing stays readable.
xz -dc "$ROOT/tests/cli/verify/older_bundle.h5.xz" > older.h5
grep -aq '"version":"0.1",' older.h5
sptile verify older.h5 --against "$ROOT/data/examples/worked.mtx" > verified
sptile export older.h5 back.mtx -q
sptile run older.h5 --format bittcf -q > ran
