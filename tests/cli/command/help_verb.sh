# "help VERB" is "VERB --help" with the long texts; common options may precede the verb.
same() {
  local one other
  read -ra one <<< "$1"
  read -ra other <<< "$2"
  cmp <(sptile "${one[@]}") <(sptile "${other[@]}") || echo "$1 is not $2"
}
same "help" "--help"
same "--help convert" "convert --help"
same "-h gen" "gen -h"
same "-V" "--version"
same "--version convert" "--version"
# names FILE: options in a help text.
names() { sed -n '/^Example:/q;s/^  \(-.*\)/\1/p' "$1" | sed 's/  .*//'; }
for words in convert gen "gen rmat" list; do
  read -ra verb <<< "$words"
  sptile help "${verb[@]}" > long
  sptile "${verb[@]}" --help > short
  cmp <(names long) <(names short) || echo "$words: other options"
  [ "$(wc -l < long)" -gt "$(wc -l < short)" ] || [ "$words" = "gen rmat" ] || echo "$words: no long texts"
done
cmp <(sptile -q --json help list) <(sptile help list)
cp "$ROOT/data/examples/us_states.mtx" a.mtx
sptile --quiet convert a.mtx a.h5
sptile --json --threads 2 stats a.mtx | json-has 'verb="stats"'
sptile --threads=2 -qv --seed 7 --color never gen --field pattern rmat --scale 4 --edges 20 --json -o b.mtx | json-has seed=7
