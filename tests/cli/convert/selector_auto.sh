# auto takes the selector that the profile has for 128 columns and assigns each window individually.
cat > profile.tsv <<'END'
sptile-profile 1
device cuda 90 some device
number cuda.hc_window.apart tf32 selector_32 1073741823
number cuda.hc_window.apart tf32 selector_128 537918568
number cuda.hc_window.apart fp16 selector_128 537395201
END
export SPTILE_PROFILE=profile.tsv
# Five windows with 16 nonzeros per column and one with a single one: too little work to mix for a selector that balances.
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real general\n96 64 4864"
  for (r = 0; r < 80; ++r) for (c = 1; c <= 60; ++c) print r + 1, c, 1
  for (r = 80; r < 96; ++r) for (c = 0; c < 4; ++c) print r + 1, (4 * r + c) % 64 + 1, 1 }' > mixed.mtx
for selector in auto fitted; do
  sptile convert mixed.mtx out.h5 --force --format "hc_window:$selector" --json |
    jq -c '.formats[1].parameters | [.constant_weight, .sparsity_weight, .columns_weight, .tensor_windows, .cuda_windows]'
done
sptile convert mixed.mtx out.h5 --force --format hc_window:auto | grep selector
sptile convert mixed.mtx out.h5 --force --format hc_window:auto --dtype f16 | grep selector
sptile run out.h5 --op spmm --format hc_window -n 8 --device cpu --check > checked
sed -i '/selector/d' profile.tsv
code=0
sptile convert mixed.mtx out.h5 --force --format hc_window:auto || code=$?
echo "$code"
