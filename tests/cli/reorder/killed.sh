# Interrupted at any time: the old files stay or the new ones are whole, and nothing else is left.
sptile gen random --rows 20000 --cols 20000 --nnz 600000 -o a.mtx -q
echo old > out.mtx
echo old > out.h5
echo old > order.txt
finished=0
for out in out.mtx out.h5; do
  for signal in TERM INT HUP; do
    for delay in 0.01 0.1 0.3; do
      ( trap - INT; exec sptile reorder a.mtx --method rcm -o $out --perm order.txt --force -q --threads 1 ) &
      sleep $delay
      kill -$signal $! 2> /dev/null || true
      wait $! 2> /dev/null || true
      if [ "$(head -c 3 $out)" != old ]; then  # it was done in time, and wholly
        finished=$((finished + 1))
        case $out in *.mtx) sptile stats $out > said ;; *.h5) sptile verify $out > said ;; esac
        rm -f said $out
        echo old > $out
        echo old > order.txt
      fi
      for file in out.mtx out.h5 order.txt; do [ "$(cat $file)" = old ] || echo "$file changed"; done
      [ "$(ls -A | tr '\n' ' ')" = "a.mtx order.txt out.h5 out.mtx " ] || ls -A
    done
  done
done
[ $finished -lt 18 ]  # else the test would show nothing
