# A bundle that is cut while it is mapped ends the verb with a message; with --copy it is no longer needed.
sptile gen random --rows 2000 --cols 2000 --nnz 60000 -o a.mtx -q
sptile convert a.mtx a.h5 --format bittcf -q
cut_meanwhile() {  # verify has read the bundle once when it opens the pipe, and reads it again after that
  cp a.h5 b.h5 && chmod u+w b.h5
  rm -f other && mkfifo other
  sptile verify b.h5 --against other "$@" > log 2> errors &
  exec 3> other
  truncate -s 70000 b.h5
  cat a.mtx >&3
  exec 3>&-
  status=0
  wait $! || status=$?
  echo "exit $status"
  cat errors
}
cut_meanwhile
cut_meanwhile --copy
# With --copy verbs give what they give of a map, and what they let go meanwhile is still there.
same() {
  sptile "$@" --json 2> notes | jq -c 'del(.. | numbers)' > mapped
  sptile "$@" --json --copy 2> notes | jq -c 'del(.. | numbers)' > copied
  cmp mapped copied
}
same run a.h5 --op spmm -n 4 --check
same partition a.h5 --parts 3 --method rows -o parts --force
same verify parts --against a.h5
