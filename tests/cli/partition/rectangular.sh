sptile gen random --rows 30 --cols 40 --nnz 90 -o a.mtx -q
sptile convert a.mtx a.h5 -q
sptile partition a.h5 --parts 2 -o parts || echo $?
sptile partition a.mtx --parts 2 -o parts || { status=$?; ls; exit $status; }
