sptile gen rmat --scale 10 --edges 9000 --shuffle -o a.mtx -q
sptile convert a.mtx a.h5 --reorder degree -q
keys='[.formats[] | select(.tc_blocks != null) | {name, tc_blocks, index_bytes, value_bytes}] | sort_by(.name)'
sptile info a.h5 --json | jq "$keys" > info.json
sptile stats a.h5 --json | jq "$keys" > stats.json
sptile stats a.mtx --reorder degree --json | jq "$keys" > ordered.json
cmp info.json stats.json
cmp info.json ordered.json
