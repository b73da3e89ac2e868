# Errors of the parser name the option and the remedy.
said() { code=0; sptile "$@" 2> message > /dev/null || code=$?; [ $code = 2 ] || echo "exit code $code: $*"; head -1 message; }
said list --seed abc
said list --seed -1
said list --seed 99999999999999999999
said list --threads
said list --threads 2 --threads 3
said run a.h5 -n 1.5
said run a.h5 -n 1,x
said report a.mtx -o a.html --seconds soon
said report a.mtx -o a.html --seconds -1
said convert
said spy a.mtx
said info
said info a.h5 b.h5
said list --quiet=perhaps
