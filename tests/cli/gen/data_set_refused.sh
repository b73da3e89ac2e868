community=(gen community --rows 9 --edges 9 --mix 0 --classes 3 --features 3 --noise 0 --data-set)
status=0; sptile gen grid2d --side 3 --data-set -o graph.mtx || status=$?
[ $status = 2 ]
status=0; sptile "${community[@]}" || status=$?
[ $status = 2 ]
status=0; sptile "${community[@]}" -o features.mtx || status=$?
[ $status = 2 ]
sptile gen community --rows 9 --edges 9 --mix 0 --classes 10 --features 10 --noise 0
