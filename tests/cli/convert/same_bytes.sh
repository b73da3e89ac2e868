# The same input and options give the same bytes: again, under another name, with other thread counts.
sptile gen rmat --scale 12 --edges 60000 --shuffle -o a.mtx -q
convert() { sptile convert a.mtx "$1" --reorder random --seed 3 --refreshable -q "${@:2}"; }
convert first.h5
convert second.h5
convert one.h5 --threads 1
convert two.h5 --threads 2
convert three.h5 --threads 3
for other in second one two three; do cmp first.h5 "$other.h5"; done
