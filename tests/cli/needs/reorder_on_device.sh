[ "$(sptile list devices --json | jq '.devices[] | select(.name == "cuda") | .available')" = true ] ||
  { echo "there is no CUDA device" >&2; exit 77; }
sptile gen community --rows 20000 --edges 200000 --mix 0.2 --classes 40 --features 40 --noise 0.5 --shuffle -o graph.mtx -q
for matrix in graph.mtx "$ROOT/data/examples/us_states.mtx"; do
  for method in rabbit pack:fast; do
    for device in cpu cuda; do
      sptile reorder "$matrix" --method $method --device $device --perm $device.txt --force -q
      sptile convert "$matrix" $device.h5 --reorder $method --device $device --transpose --refreshable --force -q
    done
    cmp cpu.txt cuda.txt
    cmp cpu.h5 cuda.h5
  done
done
