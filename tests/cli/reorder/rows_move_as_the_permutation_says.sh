# Line i of the permutation is the old row of the new row i: the text of the output says the same.
sptile gen random --rows 203 --cols 155 --nnz 3000 -o a.mtx -q
for method in identity degree random rcm metis metis-nd; do
  sptile reorder a.mtx --method $method --seed 4 -o b.mtx --perm order.txt --force -q
  python3 - <<'EOF'
def entries(path):
    lines = [line.split() for line in open(path) if not line.startswith("%")][1:]
    return sorted((int(r) - 1, int(c), v) for r, c, v in lines)
order = [int(line) for line in open("order.txt")]
assert sorted(order) == list(range(203)), "no permutation"
place = {old: new for new, old in enumerate(order)}
assert sorted((place[r], c, v) for r, c, v in entries("a.mtx")) == entries("b.mtx"), "rows moved elsewhere"
EOF
done
cmp <(seq 0 202) <(sptile reorder a.mtx --method identity --perm -)
sptile reorder a.mtx --method rcm -o - > c.mtx
sptile reorder a.mtx --method rcm -o d.mtx -q
cmp c.mtx d.mtx
