# HDF5 tools see where the matrix came from.
command -v h5dump > /dev/null || { echo "h5dump is not installed" >&2; exit 77; }
cp "$ROOT/data/examples/us_states.mtx" a.mtx
sptile convert a.mtx a.h5 --reorder degree --seed 9 -q
dump=$(h5dump -A a.h5)
for word in source_name source_sha256 options seed ordering "$(sha256sum < a.mtx | cut -d' ' -f1)" '"degree"' '"a.mtx"'; do
  grep -q -- "$word" <<< "$dump" || echo "no $word"
done
