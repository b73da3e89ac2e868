[ "$(sptile list devices --json | jq '.devices[] | select(.name == "cuda") | .available')" = true ] ||
  { echo "there is no CUDA device" >&2; exit 77; }
# Results are rows, while the bias is a list in the order of the format.
sptile gen random --rows 3000 --cols 3000 --nnz 30000 -o a.mtx -q
sptile bench a.mtx --op attention --device cuda --format csr,bmat -n 8,32 --json |
  jq -e '[.rows[] | select(.checked)] | length >= 4' > /dev/null || echo "attention was not compared"
