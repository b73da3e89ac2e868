# Each says what is wrong; none leaves a folder.
cp "$ROOT/data/examples/fem_plate.mtx" a.mtx
rows=$(sptile stats a.mtx --json | jq .rows)
try() { echo "-- $*"; sptile partition "$@" || echo "exit $?"; }
{
  try a.mtx
  try a.mtx --parts 4
  try a.mtx --parts 0 -o parts
  try a.mtx --parts 100000 -o parts
  try a.mtx --parts 4 -o parts --method metiss
  try a.mtx --parts 4 -o parts --dtype f16
  try a.mtx --parts 4 -o none/parts
  try a.mtx --parts 4 -o a.mtx
  try missing.mtx --parts 4 -o parts
  try a.mtx --predict gpus=8..4
  try a.mtx --predict gpus=
  try a.mtx --predict gpus=2,x
  try a.mtx --predict gpus=2 --parts 2
  seq "$rows" | sed 's/.*/3/' > assignment
  try a.mtx --parts 3 -o parts --method assignment
  seq 5 | sed 's/.*/0/' > assignment
  try a.mtx --parts 3 -o parts --method assignment
  try a.mtx --predict gpus=2 --method assignment
} 2>&1
ls
