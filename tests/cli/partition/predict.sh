# Exact numbers: the cut of a grid is known, and so is the model.
sptile gen grid2d --side 64 -o grid.mtx -q
sptile partition grid.mtx --predict gpus=1..8 --method rows --bandwidth 100 --latency 2 --gflops 1 --dtype f64 --json |
  jq -c '.predictions[] | [.gpus, .volume, .largest_send, .step_seconds == ([.local_seconds, .exchange_seconds] | max) + .halo_seconds]'
sptile partition grid.mtx --predict 2,3 --method rows -n 1 --gflops 0.001 --latency 0 --json | jq -c '.predictions[].gpus'
