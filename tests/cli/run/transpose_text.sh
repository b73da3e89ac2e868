sptile convert "$ROOT/data/examples/residual.mtx" a.h5 --format bittcf --transpose -q
sptile run a.h5 --transpose --format bittcf -n 8 --check --repeat 1 | head -1 | sed 's/bittcf\.[a-z0-9]*/bittcf/'
sptile run a.h5 --transpose --explain -n 8 --repeat 1 | grep -c 'not stored in the bundle'
