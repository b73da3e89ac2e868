# A partition of the time when boundary rows stayed among the others stays readable.
tar -xJf "$ROOT/tests/cli/partition/older_partition.tar.xz"
sptile gen grid2d --side 12 -o grid.mtx -q
sptile verify older --against grid.mtx -q > verified
sptile partition grid.mtx --parts 4 -o now -q
jq -c '[.content, .symmetric, .parts[].sent]' older/partition.json > expected
jq -c '[.content, .symmetric, .parts[].sent]' now/partition.json | cmp - expected
