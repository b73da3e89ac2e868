# A plan stored last decides which format runs, whatever is predicted.
sptile convert "$ROOT/data/examples/us_states.mtx" a.h5 -q
sptile run a.h5 -n 16 --threads 1 --json | json-has 'format="csr"' 'plan="made"'
sptile plan a.h5 -n 16 --device cpu --threads 1 --format bittcf -q > /dev/null
sptile run a.h5 -n 16 --threads 1 --json | json-has 'format="bittcf"' 'plan="stored"' 'why=null'
sptile run a.h5 -n 16 --threads 1 --format csr --json | json-has 'format="csr"' 'plan="made"'
sptile plan a.h5 -n 16 --device cpu --threads 1 --choose measured -q > /dev/null
sptile run a.h5 -n 16 --threads 1 --json | json-has 'plan="stored"'
sptile plan a.h5 -n 16 --threads 1 --kernel cpu.me_tcf.generic -q > /dev/null
sptile run a.h5 -n 16 --threads 1 --json | json-has 'format="me_tcf"' 'kernel="cpu.me_tcf.generic"' 'plan="stored"'
