sptile gen planted --rows 3000 --edges 30000 --mix 0.2 --shuffle -o a.mtx -q
for method in $(sptile list reorderers --json | jq -r '.reorderers[].name'); do
  sptile reorder a.mtx --method "$method" --threads 1 --perm one.txt --force -q
  sptile reorder a.mtx --method "$method" --threads 2 --perm two.txt --force -q
  cmp one.txt two.txt || echo "$method"
done
