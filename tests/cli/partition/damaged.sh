# What is missing, foreign or damaged is named, with the exit code of its kind.
sptile gen grid2d --side 12 -o grid.mtx -q
sptile gen grid2d --side 12 --seed 2 -o other.mtx -q
sptile partition grid.mtx --parts 3 -o good -q
sptile partition other.mtx --parts 3 -o other -q
try() { echo "-- $1"; sptile verify parts > said || { echo "exit $?"; cat said; }; rm -rf parts; cp -r good parts; }
cp -r good parts
{
  try whole
  rm parts/part-0001.h5; try "a part is missing"
  cp -f other/part-0001.h5 parts/; try "a part of another partition" | sed -E 's/[0-9a-f]{16}/<id>/g'
  cp -f good/part-0002.h5 parts/part-0001.h5; try "a part at another place"
  chmod +w parts/part-0001.h5; truncate -s -100 parts/part-0001.h5; try "a part that was cut"
  rm parts/partition.json; try "no description"
  sed -i 's/"rows": 144/"rows": 145/' parts/partition.json; try "another description"
  sed -i 's/"content": "[0-9a-f]*"/"content": "0000000000000000"/' parts/partition.json; try "another matrix"
  rm -r parts; mkdir parts; try "an empty folder"
} 2>&1
