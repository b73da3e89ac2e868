sptile gen grid2d --side 20 -o grid.mtx -q
sptile partition grid.mtx --parts 4 --method rows -o parts --json > out.json
json-has id rows=400 nnz=1520 'dtype="f32"' symmetric=true 'method="rows"' halo_share volume=120 largest_send=40 imbalance \
  prediction.step_seconds prediction.efficiency prediction.model.bandwidth_gb_s 'parts[].file' 'parts[].rows' \
  'parts[].local_entries' 'parts[].halo_entries' 'parts[].received' 'parts[].sent' 'parts[].senders' 'parts[].receivers' \
  'parts[].bytes' seconds.read seconds.divide seconds.survey seconds.write seconds.total < out.json
json-has rows=400 entries=1520 id content 'dtype="f32"' symmetric=true 'method="rows"' 'reorder="identity"' 'source="grid.mtx"' \
  seed=1 'parts[].file' 'parts[].received' < parts/partition.json
sptile verify parts --json | json-has ok=true 'checks[].name'
sptile partition grid.mtx --predict gpus=2..8 --method rows --json | json-has 'method="rows"' model.latency_us \
  'predictions[].gpus' 'predictions[].step_seconds' 'predictions[].local_seconds' 'predictions[].halo_seconds' \
  'predictions[].exchange_seconds' 'predictions[].one_device_seconds' 'predictions[].efficiency' 'predictions[].halo_share' \
  'predictions[].volume' 'predictions[].largest_send' 'predictions[].imbalance'
