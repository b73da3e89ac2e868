# Tuning policies of CUDA kernels: every capability has one for each precision. Builds without CUDA list neither.
sptile list kernels --json > kernels.json
jq -r '.kernels[] | select(.policies != []) | . as $k | .policies | group_by(.capability)[]
  | select(([.[].precisions[]] | sort) != ($k.precisions | sort)) | "\($k.name): \(.)"' kernels.json
jq -r '.kernels[] | select(.name == "cuda.csr.rows" or .device == "cpu")
  | select((.policies == []) != (.device == "cpu" or .precisions == [])) | .name' kernels.json
jq -r '.kernels[].policies[] | select((.constants | length) == 0 or .capability < 80)' kernels.json
