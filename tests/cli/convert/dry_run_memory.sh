# The memory that is told is near what is taken: how threads meet makes a difference, too.
sptile gen random --rows 60000 --cols 60000 --nnz 3000000 --field pattern -o a.mtx -q
told=$(sptile convert a.mtx a.h5 --dry-run --json | jq .peak_memory)
taken=$(sptile convert a.mtx a.h5 --json | jq .peak_memory)
[ $((told * 2)) -ge "$taken" ] && [ "$told" -le $((taken * 3)) ] || echo "told $told, taken $taken"
