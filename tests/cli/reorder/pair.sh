# Outputs are a pair: where the permutation cannot have its name, the old matrix stays, too.
sptile gen random --rows 5 --cols 5 --nnz 9 -o a.mtx -q
sptile gen random --rows 50 --cols 50 --nnz 300 -o b.mtx -q
sptile reorder a.mtx -o o.mtx --perm p.txt --method identity -q
mv p.txt q.txt && cp o.mtx old.mtx
wait_for_temporary() { for _ in {1..1000}; do compgen -G '.p.txt.*' >/dev/null && return; sleep 0.01; done; }
{ wait_for_temporary && mkdir p.txt; cat b.mtx; } | sptile reorder - -o o.mtx --perm p.txt --method degree --force -q ||
  echo "exit $?" >&2
rmdir p.txt
cmp o.mtx old.mtx
sptile reorder b.mtx -o o.mtx --perm p.txt --method degree --force -q
echo "$(grep -v '^%' o.mtx | head -n 1 | cut -d' ' -f1) rows, $(wc -l <p.txt) numbers; left: $(compgen -G '.*.tmp' | wc -l)"
