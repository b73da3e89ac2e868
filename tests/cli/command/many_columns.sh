# Memory and time follow entries and rows, not columns: 2^31 - 1 of them, with any order, in every format.
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real general\n3 2147483647 2000"
             for (i = 0; i < 2000; ++i) print 1 + i % 3, 1 + int(i / 2) * 2147483, i }' > wide.mtx
bounded() { peak-memory 200 sptile "$@" -q || echo "exit code $?: $*" >&2; }
for method in $(sptile list reorderers --json | jq -r '.reorderers[].name'); do
  bounded reorder wide.mtx --method "$method" --perm order.txt --force
  echo "$method: $(sort order.txt | paste -sd' ')"
done
bounded stats wide.mtx --reorder pack > /dev/null
bounded convert wide.mtx wide.h5 --reorder pack
bounded verify wide.h5 > /dev/null
bounded export wide.h5 back.mtx
bounded spy wide.mtx --reorder pack -o wide.png
sptile stats wide.mtx --json |
  json-has rows=3 cols=2147483647 nnz=2000 empty_cols=2147482647 col_nnz.min=0 col_nnz.max=2 col_nnz.percentiles.p99=0
cmp <(grep -v % wide.mtx | sort) <(grep -v % back.mtx | sort) || echo "not the same entries"
# Each column on a page of its own, if columns had pages.
awk 'BEGIN { print "%%MatrixMarket matrix coordinate pattern general\n30000 2147483647 90000"
             for (i = 0; i < 90000; ++i) print 1 + int(i / 3), 1 + i * 23860 }' > scattered.mtx
bounded convert scattered.mtx scattered.h5
