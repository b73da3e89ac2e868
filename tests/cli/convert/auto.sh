# What auto chose, and why: in the text, in JSON, in the bundle, where info and programs that use HDF5 find it.
in=$ROOT/data/examples/fem_plate.mtx
sptile convert "$in" a.h5 --format csr --reorder auto
sptile convert "$in" b.h5 --format csr --reorder auto --transpose --json | jq -c '.order_choice, .transpose.order_choice'
sptile convert "$in" c.h5 --format csr --json | jq -c .order_choice
sptile info a.h5 | tail -2
sptile info b.h5 --json | jq -c .choices
sptile info c.h5 --json | jq -c .choices
h5dump -a /choices a.h5 | grep -c 'auto\|order: '
sptile verify a.h5 --against "$in" -q > verified
sptile reorder "$in" --method auto -o o.mtx | head -2 | sed -E 's/ in [^,]*,/ in <time>,/'
sptile reorder "$in" --method auto -o o.h5 --json | jq -c .order_choice
sptile convert "$in" again.h5 --format csr --reorder auto --threads 1 -q
cmp a.h5 again.h5
