# Matrices without rows, columns or entries, thin ones, patterns: a page for each, with no number that is none.
for shape in "0 0 0" "0 5 0" "5 0 0" "1 1 0" "1 4000 0" "4000 1 0"; do
  printf '%%%%MatrixMarket matrix coordinate pattern general\n%s\n' "$shape" > a.mtx
  sptile report a.mtx -o a.html -n 4 --reorder all --force -q 2> notes || { echo "$shape: exit $?"; cat notes; }
  grep -q '</html>' a.html || echo "$shape: no page"
  ! grep -iE '[^a-z](nan|inf)[^a-z]' a.html || echo "$shape: a number that is none"
done
