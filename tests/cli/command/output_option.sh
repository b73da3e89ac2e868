# Verbs that write a file accept -o and --output.
cp "$ROOT/data/examples/us_states.mtx" a.mtx
sptile convert a.mtx one.h5 -q
sptile convert a.mtx -o two.h5 -q
sptile convert --output=three.h5 a.mtx -q
cmp one.h5 two.h5 && cmp one.h5 three.h5
sptile export one.h5 one.mtx -q
sptile export one.h5 -o two.mtx -q
cmp one.mtx two.mtx
sptile bench a.mtx --format csr -n 2 --repeat 1 -o rows.csv > /dev/null
wc -l < rows.csv
for words in "gen grid2d --side 3" "spy a.mtx" "report a.mtx" "partition a.mtx --parts 2"; do
  read -ra verb <<< "$words"
  sptile "${verb[@]}" -o "out-${words%% *}.${words%% *}" -q 2> /dev/null || echo "$words: $?"
done
sptile reorder a.mtx --method rcm -o ordered.mtx -q
sptile convert a.mtx four.h5 -o five.h5 || echo $?
