# Options that are unknown, or belong to verbs, are named even if the verb is missing.
said() { code=0; sptile "$@" 2> message > /dev/null || code=$?; [ $code = 2 ] || echo "exit code $code: $*"; head -1 message; }
said --bogus
said --bogus convert a.mtx b.h5
said --format csr convert a.mtx b.h5
said --json
said -z list
