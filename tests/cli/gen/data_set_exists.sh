echo precious > nodes.tsv
status=0; sptile gen community --rows 9 --edges 9 --mix 0 --classes 3 --features 3 --noise 0 --data-set -o graph.mtx || status=$?
[ "$(cat nodes.tsv)" = precious ]
[ ! -e graph.mtx ]
exit $status
