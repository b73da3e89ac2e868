# Contents tell what comes through a pipe, whatever packs it; --from names what they do not tell.
printf '0 1\n1 2\n' > a.el
printf '2 1\n2\n1\n' > a.graph
size() { sptile stats --json "$@" | jq -c '[.rows, .cols, .nnz]'; }
size - < a.el
size - < <(cat a.el)
for program in gzip xz zstd; do $program -c a.el | size -; done
mkfifo pipe && { cat a.el > pipe & size pipe; }
size <(printf '%% bip unweighted\n%% 2 2 5\n1 1\n2 5\n')
size - --from metis < a.graph
size - < "$ROOT/data/examples/us_states.mtx"
cp a.el a.mtx
size a.mtx --from edges
size a.mtx -q || echo $?
printf '1 2 3 4\n' | size - || echo $?
echo hello | size - || echo $?
sptile convert -q a.el a.h5 --base 0
sptile export -q a.h5 a.npz
size - < a.npz || echo $?
size - < a.h5 || echo $?
size a.el --from graphs 2> said || echo $?
sed 's/ Known: .*//' said
size a.el --columns source,sink || echo $?
size a.el --columns target,source --base 1 || echo $?
sptile convert -q a.mtx b.h5 --from edges --base 0 --columns target,source
sptile verify b.h5 --against a.mtx --from el --base 0 --columns target,source --json | jq -c .ok
