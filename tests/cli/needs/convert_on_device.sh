[ "$(sptile list devices --json | jq '.devices[] | select(.name == "cuda") | .available')" = true ] ||
  { echo "there is no CUDA device" >&2; exit 77; }
for dtype in f32 f16; do
  for formats in all libra_spmm:6,libra_sddmm:3,hc_window:paper hc_window:tensor; do
    for device in cpu cuda; do
      sptile convert "$ROOT/data/examples/us_states.mtx" $device.h5 -q --device $device --dtype $dtype --refreshable \
        --format $formats --reorder degree --force
    done
    cmp cpu.h5 cuda.h5
  done
done
