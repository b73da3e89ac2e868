# The selector of hc_window has names, or is a number; what it is not is refused before the matrix is read.
for selector in '' :fitted :paper :tensor :cuda :0 :656941228; do
  sptile convert "$ROOT/data/examples/windows.mtx" out.h5 --format hc_window$selector --refreshable --force --json |
    jq -c '.formats[] | select(.name == "hc_window") | .parameters'
  sptile verify out.h5 --against "$ROOT/data/examples/windows.mtx" > verified
  for op in spmm sddmm; do sptile run out.h5 --op $op --format hc_window -n 8 --device cpu --check > checked; done
done
for wrong in hc_window: hc_window:pape hc_window:-1 hc_window:2147483648 libra_spmm:paper; do
  code=0
  sptile convert missing.mtx out.h5 --format "$wrong" || code=$?
  echo "$code"
done
