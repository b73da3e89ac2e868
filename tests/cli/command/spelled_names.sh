# Names of papers, of NumPy and of PyTorch, in any case.
cp "$ROOT/data/examples/us_states.mtx" a.mtx
sptile convert a.mtx one.h5 -q --format rs_tile,bittcf,tall:64 --reorder wjaccard --dtype f64
sptile convert a.mtx two.h5 -q --format RS-Tile,BitTCF,Tall:64 --reorder w-Jaccard --dtype float64
cmp one.h5 two.h5
for method in LOA Rabbit METIS-ND Degree; do
  sptile reorder a.mtx --method $method --json | jq -r .method
done
for type in float32 float64 float16 bfloat16; do
  sptile run two.h5 --dense $type -n 2 --repeat 1 --json | jq -r .dtype
done
sptile list kernels --format ME-TCF --op SpMM --device CPU --json | jq -r '.kernels[0].format'
