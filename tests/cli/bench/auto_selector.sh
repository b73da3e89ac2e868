# auto takes the value of the profile, as in convert.
cat > profile.tsv <<'END'
sptile-profile 1
device cuda 90 some device
number cuda.hc_window.apart tf32 selector_128 537918568
number cuda.libra_spmm.mma tf32 threshold_128 3
END
SPTILE_PROFILE=profile.tsv sptile bench "$ROOT/data/examples/residual.mtx" --device cpu --repeat 1 --json \
  --format hc_window:auto,libra_spmm:auto > out.json
jq -r '.rows[].format' out.json
