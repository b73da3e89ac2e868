# Counts where they differ, and the first place; damage is damage still.
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n2 3 2.5\n3 1 1\n' > a.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n3 4 4\n1 1 1\n2 2 7\n2 3 2.5\n3 1 1\n' > b.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n2 3 2.25\n3 1 1\n' > c.mtx
sptile convert a.mtx a.h5 -q --format bittcf
for other in b c; do sptile verify a.h5 --against $other.mtx || echo "exit code $?"; done
sptile verify a.h5 --against c.mtx --json 2> /dev/null > c.json || true
jq -c '[.ok, (.checks[] | select(.ok | not) | .message)]' c.json
sptile verify a.h5 --against nowhere.mtx || echo "exit code $?"
