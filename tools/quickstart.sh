#!/usr/bin/env bash
# From a clone to the first SpMM: installs packages, builds the command, converts and reorders a real matrix, and times
# SpMM in every format, checked against a double-precision reference. Results stay in build/quickstart/.
# Compiles CUDA kernels for the GPUs of this machine; without a GPU it compiles none.
set -euo pipefail
# shellcheck source=tools/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$sptile_root"

# CPU time in tenths of a second of a compile step (667 s for 385 steps on an AMD EPYC) and of a file of CUDA kernels; used
# for the estimate only.
step_time=17 kernel_time=350

# Prints the value of a key of JSON with one key per line.
field() { sed -n "s/^ *\"$1\": \"\?\([^\",]*\)\"\?,\?$/\1/p" | head -n 1; }

estimate() {
  local plan steps kernels cores seconds
  plan=$(ninja -C build -n tools/sptile)
  steps=$(grep -c '^\[' <<<"$plan") || true
  kernels=$(grep -c '_cu with a custom command' <<<"$plan") || true
  [ "$steps" -gt 0 ] || return 0
  cores=$(nproc)
  seconds=$(((steps * step_time + kernels * kernel_time) / 10 / cores))
  say "build: $steps steps on $cores cores, about $((seconds / 60 + 1)) min when they are idle"
}

say "first run: installs packages and builds, minutes; later runs: seconds"
install_packages "${build_packages[@]}"
# An existing build directory, for example from the tests, is used with its options.
if [ ! -f build/build.ninja ]; then configure build -Dtests=disabled -Dgpu_arch=native; fi
estimate
start=$SECONDS
ninja -C build tools/sptile >&2
say "built in $((SECONDS - start)) s"

export LC_NUMERIC=C
sptile=build/tools/sptile
matrix=data/examples/fem_plate.mtx
out=build/quickstart
mkdir -p "$out"

say "1. Convert $matrix (finite elements, a plate with a hole) to all formats and write one bundle"
"$sptile" convert "$matrix" "$out/plate.h5" --force
say "2. Reorder the rows so that tiles become denser; results keep the original row order"
"$sptile" reorder "$matrix" --method pack -o "$out/plate-reordered.mtx" --force
"$sptile" convert "$matrix" "$out/plate-reordered.h5" --reorder pack --force -q
say "3. Verify the bundle, and that every format holds exactly this matrix"
"$sptile" verify "$out/plate.h5" --against "$matrix"

# time_formats DEVICE: prints a table of minima and the fastest format. Other programs slow down single runs, so each format
# is measured in five rounds, and formats within 5 % of the fastest are named too.
time_formats() {
  local device=$1 format bundle
  say "4. SpMM with 128 columns on device $device: minimum of 100 runs, every result checked against the reference"
  for _ in 1 2 3 4 5; do
    for format in csr rs_tile bittcf me_tcf bmat tall libra_spmm libra_sddmm hc_window; do
      for bundle in plate plate-reordered; do
        "$sptile" run "$out/$bundle.h5" --op spmm --format "$format" -n 128 --device "$device" --check --repeat 20 --json \
          >"$out/run.json"
        printf '%s %s %s\n' "$format" "$bundle" "$(field min_us <"$out/run.json")"
      done
    done
  done | awk -v device="$device" '
    !($1 in seen) { seen[$1] = 1; order[++count] = $1 }
    !(($1, $2) in least) || $3 < least[$1, $2] { least[$1, $2] = $3 }
    !($1 in best) || $3 < best[$1] { best[$1] = $3 }
    END {
      printf "%-12s %14s %14s\n", "format", "original, us", "reordered, us"
      for (i = 1; i <= count; ++i) {
        format = order[i]
        printf "%-12s %14.1f %14.1f\n", format, least[format, "plate"], least[format, "plate-reordered"]
        if (fastest == "" || best[format] < best[fastest]) fastest = format
      }
      printf "Fastest on %s: %s", device, fastest
      for (i = 1; i <= count; ++i)
        if (order[i] != fastest && best[order[i]] < 1.05 * best[fastest]) printf ", within 5 %%: %s", order[i]
      print "."
    }'
}

time_formats cpu
if "$sptile" list devices --json | tr -d '\n' | grep -q '"cuda", *"available": true'; then time_formats cuda; fi
echo 'Tile formats pay on GPUs: tensor cores multiply whole tiles, and a window of rows loads each row of B only once.'
