# Others who can write where a partition is made swap its folder for a link: nothing is written where that leads.
sptile gen grid2d --side 100 -o a.mtx -q
mkdir shared elsewhere
swap() {
  for _ in {1..1000}; do
    for name in shared/.P.*; do
      [ -e "$name" ] && mv "$name" shared/taken && ln -s "$PWD/elsewhere" "$name" && return
    done
    sleep 0.01
  done
}
mkfifo pipe
{ swap; cat a.mtx; } >pipe &
sptile partition pipe --parts 4 --method rows -o shared/P -q || echo "exit $?"
wait
ls elsewhere shared/taken
