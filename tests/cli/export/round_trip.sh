# gen writes what export writes, so the text comes back byte by byte, from every format and order.
formats=$(format-names)
for kind in "rmat --scale 9 --edges 4000" "grid2d --side 17" "stencil27 --side 4 --dof 3" "molecules --count 30" \
            "planted --rows 500 --edges 3000 --mix 0.2" "random --rows 203 --cols 155 --nnz 3000"; do
  for field in real pattern; do
    # shellcheck disable=SC2086
    sptile gen $kind --field $field --shuffle -o a.mtx --force -q
    for reorder in identity random; do
      sptile convert a.mtx a.h5 --reorder $reorder --force -q
      for format in $formats; do
        sptile export a.h5 back.mtx --from "$format" --force -q
        cmp a.mtx back.mtx
      done
    done
  done
done
