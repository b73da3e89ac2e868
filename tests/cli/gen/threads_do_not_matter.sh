for kind in "rmat --scale 12 --edges 50000" "planted --rows 9000 --edges 50000 --mix 0.25" "molecules --count 900" \
            "community --rows 9000 --edges 50000 --mix 0.25 --classes 9 --features 50 --noise 0.5" \
            "random --rows 4000 --cols 5000 --nnz 70000"; do
  # shellcheck disable=SC2086
  for threads in 1 2 5; do sptile gen $kind --shuffle --threads $threads -o $threads.mtx --force -q; done
  cmp 1.mtx 2.mtx
  cmp 1.mtx 5.mtx
done
