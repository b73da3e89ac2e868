sptile gen random --rows 60 --cols 60 --nnz 400 -o a.mtx -q
sptile convert a.mtx a.h5 -q
run() { sptile run a.h5 --check --repeat 1 --json "$@"; }
run --op attention -n 1 --m 8 --heads 4 --score additive --slope 0.1 |
  json-has checked=true 'op="attention m=8 heads=4 score=additive slope=0.1"'
run --op spmm_update -n 6 --m 5 --activation relu --transposed-weights |
  json-has checked=true 'op="spmm_update m=5 activation=relu transposed_weights=1"'
run --op sddmm --scaled -n 4 | json-has checked=true 'op="sddmm scaled=1"'
run --op attention_gradient -n 8 --heads 2 | json-has checked=true 'op="attention_gradient heads=2"'
run --op spmm --heads 1 | json-has checked=true 'op="spmm"'
sptile run a.h5 --heads 0 || echo $?
sptile run a.h5 --score cubic || echo $?
sptile run a.h5 --op spmm_update --activation tanh || echo $?
sptile run a.h5 --op attention --score additive -n 2 || echo $?
sptile run a.h5 --head 2
