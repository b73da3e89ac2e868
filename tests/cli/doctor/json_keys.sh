sptile doctor --json > out.json
json-has ok=true versions.sptile versions.hdf5 versions.cuda versions.driver versions.compiler versions.system \
  processor.model processor.usable processor.caches processor.quota 'processor.vector_extensions[].available' \
  processor.threads.count processor.threads.why devices no_device 'kernels[].device' 'kernels[].format' 'kernels[].op' \
  'kernels[].kernels' 'kernels[].available' unavailable 'profiles[].name' 'profiles[].profile' 'profiles[].made_on' \
  environment 'trials[].products' problems=[] advice < out.json
# The counts are those of the table of kernels.
[ "$(jq '[.kernels[].kernels] | add' out.json)" = "$(sptile list kernels --json | jq '.kernels | length')" ]
[ "$(jq '[.kernels[].available] | add' out.json)" = "$(sptile list kernels --json | jq '[.kernels[] | select(.available)] | length')" ]
