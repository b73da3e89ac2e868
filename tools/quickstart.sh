#!/usr/bin/env bash
# Everything from a fresh machine to a first SpMM: installs packages, builds, converts a real matrix into all formats,
# reorders it, runs SpMM in every format and checks the numbers. Results stay in build/quickstart/.
set -euo pipefail
# shellcheck source=tools/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$sptile_root"

install_packages "${build_packages[@]}"
# Kernels for the GPU that is here; for one that many have where there is none.
gpu_arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d . || true)
# A folder that is configured already, by the tests perhaps, is used as it is.
if [ ! -f build/build.ninja ]; then configure build -Dtests=disabled -Dgpu_arch="${gpu_arch:-90}"; fi
say "building"
ninja -C build tools/sptile >&2

sptile=build/tools/sptile
matrix=data/examples/fem_plate.mtx
out=build/quickstart
mkdir -p "$out"

say "1. convert $matrix (finite elements, plate with a hole) into all formats"
"$sptile" convert "$matrix" "$out/plate.h5" --force
say "2. the same with the rows reordered for dense tiles; results stay in the original order"
"$sptile" reorder "$matrix" --method pack -o "$out/plate-reordered.mtx" --force
"$sptile" convert "$matrix" "$out/plate-reordered.h5" --reorder pack --force
say "3. is the bundle whole, and does every format hold exactly this matrix?"
"$sptile" verify "$out/plate.h5" --against "$matrix"
say "4. SpMM on the CPU, 128 columns, compared with the double-precision reference"
for bundle in "$out/plate.h5" "$out/plate-reordered.h5"; do
  for format in csr rs_tile bittcf me_tcf bmat tall libra_spmm libra_sddmm hc_window; do
    "$sptile" run "$bundle" --op spmm --format "$format" -n 128 --check --repeat 20
  done
done
