# Killed while it starts, reads or writes: the old files stay or the new ones are complete, and nothing else is left.
sptile gen random --rows 20000 --cols 20000 --nnz 600000 -o a.mtx -q
for out in out.mtx out.h5; do
  for signal in TERM INT HUP; do
    for moment in starts reads writes; do
      echo old > $out
      echo old > order.txt
      interrupted $signal $moment $out sptile reorder a.mtx --method rcm -o $out --perm order.txt --force -q --threads 1
      if [ "$(head -c 3 $out)" != old ]; then  # it has ended before the signal
        [ $moment != reads ] || echo "an ordering of half a matrix"
        case $out in *.mtx) sptile stats $out ;; *.h5) sptile verify $out ;; esac > /dev/null
      elif [ "$(cat order.txt)" != old ]; then
        echo "order.txt changed"
      fi
      [ "$(ls -A | tr '\n' ' ')" = "a.mtx order.txt $out " ] || ls -A
    done
  done
  rm -f $out
done
