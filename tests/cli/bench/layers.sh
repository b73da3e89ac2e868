sptile gen random --rows 60 --cols 60 --nnz 400 -o a.mtx -q
bench() { sptile bench a.mtx --format csr --repeat 1 --csv rows.csv --json "$@"; }
of='.rows[] | [.op, .checked, .rel_err <= .tolerance]'
bench --op attention -n 8 --heads 2 --score cosine | jq -c "$of"
bench --op attention -n 8 | jq -c "$of"
bench --op attention_gradient_t -n 8 --m 4 | jq -c "$of"
# Rows are reused for the same attributes only.
bench --op attention -n 8 --heads 2 --score cosine | jq -c '[.resumed, (.rows | length)]'
bench --op attention -n 8 --heads 2 | jq -c '[.resumed, (.rows | length)]'
sptile bench --csv rows.csv --plot rows.svg -q > /dev/null
grep -o 'attention heads=2 score=cosine' rows.svg | sort -u
