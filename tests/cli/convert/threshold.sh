# A format may have a number: of windows' rows, or a threshold. The bundle is sound, also what makes it refreshable.
sptile convert "$ROOT/data/examples/blocks.mtx" out.h5 --format tall:64,libra_spmm:9,libra_sddmm:1 --refreshable \
  --reorder degree --json |
  jq -c '.formats[] | select(.name != "csr") | [.name, .parameters.window_rows, .parameters.threshold, .threshold_from]'
sptile verify out.h5 > verified
for format in tall libra_spmm libra_sddmm; do sptile run out.h5 --format $format -n 8 --check > checked; done
