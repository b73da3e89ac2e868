# What each kind gives never changes: files made from a seed can be named by it.
for kind in "rmat --scale 8 --edges 3000" "grid2d --side 12" "stencil27 --side 4 --dof 2" \
            "planted --rows 400 --edges 2500 --mix 0.25" "community --rows 300 --edges 2000 --mix 0.3 --classes 7 --features 20 --noise 0.5" \
            "molecules --count 20" "random --rows 70 --cols 50 --nnz 900" \
            "windows --windows 4 --cols 90 --mean 6 --variance 8 --fill 0.1" \
            "reddit-like --rows 400" "roadnet-like --rows 1500"; do
  for how in "" "--shuffle" "--field pattern" "--seed 2 --shuffle"; do
    # shellcheck disable=SC2086
    echo "$(sptile gen $kind $how | sha256sum | cut -c1-16) $kind $how"
  done
done
