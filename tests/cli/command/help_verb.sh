# "help VERB" is "VERB --help", and options that every verb has may stand before the verb.
same() {
  local one other
  read -ra one <<< "$1"
  read -ra other <<< "$2"
  cmp <(sptile "${one[@]}") <(sptile "${other[@]}") || echo "$1 is not $2"
}
same "help" "--help"
same "help convert" "convert --help"
same "--help convert" "convert --help"
same "help gen" "gen -h"
same "help gen rmat" "gen rmat --help"
same "-q --json help list" "list --help"
same "-V" "--version"
same "--version convert" "--version"
cp "$ROOT/data/examples/us_states.mtx" a.mtx
sptile --quiet convert a.mtx a.h5
sptile --json --threads 2 stats a.mtx | json-has 'verb="stats"'
sptile --threads=2 -qv --seed 7 --color never gen --field pattern rmat --scale 4 --edges 20 --json -o b.mtx | json-has seed=7
