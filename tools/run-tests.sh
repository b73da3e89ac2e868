#!/usr/bin/env bash
# Installs missing packages, builds, runs every test, and prints the failed tests and a last line "N passed, N
# failed, N skipped".
# Builds: release (all tests, those of the Python package in a virtual environment, its wheel, the site of
# docs/ and tools/lint.sh), address and undefined-behavior sanitizers with clang (all tests again, and a short
# run of each fuzzer), and the thread sanitizer (tests of parallel code). Also a cross build for aarch64, some
# of whose tests run under QEMU (skipped if its packages cannot be installed). Later runs build only what has
# changed.
#
#   tools/run-tests.sh [--quick [SUITE]...]     --quick: only the release build with its tests and those of the Python package;
#                                               with suites of Meson, only their tests and what these need
set -euo pipefail
# shellcheck source=tools/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$sptile_root"

quick=false suites=all
case "${1:-}" in
  --quick) quick=true; shift; suites=${*:-all} ;;
  '') ;;
  *) echo "usage: tools/run-tests.sh [--quick [SUITE]...]" >&2; exit 2 ;;
esac

packages=("${build_packages[@]}" "${test_packages[@]}")
$quick || packages+=("${sanitizer_packages[@]}" "${lint_packages[@]}")
install_packages "${packages[@]}"

passed=0 failed=0 skipped=0
failures=()  # names of the failed tests

# count FOLDER: adds the results of meson's last test run in a build directory.
count() {
  local log="$1/meson-logs/testlog.json" ok bad skip names=()
  ok=$(jq -s '[.[] | select(.result == "OK" or .result == "EXPECTEDFAIL")] | length' "$log")
  skip=$(jq -s '[.[] | select(.result == "SKIP")] | length' "$log")
  bad=$(jq -s 'length' "$log")
  passed=$((passed + ok)) failed=$((failed + bad - ok - skip)) skipped=$((skipped + skip))
  mapfile -t names < <(jq -r 'select(.result | IN("OK", "EXPECTEDFAIL", "SKIP") | not) | .name + " (" + .result + ")"' "$log")
  failures+=("${names[@]/#/$1: }")
}

# build_and_test FOLDER "SUITE..." OPTION...: builds and tests, and prints the elapsed time. A failed build counts
# as one failed test. "all" runs every test; for other suites only their targets are built.
build_and_test() {
  local folder=$1 suite=() name start=$SECONDS built
  if [ "$2" != all ]; then for name in $2; do suite+=(--suite "$name"); done; fi
  shift 2
  say "$folder: configure and build"
  if ! { configure "$folder" "$@" && if [ ${#suite[@]} -eq 0 ]; then ninja -C "$folder"; fi; } >&2; then
    failed=$((failed + 1)) failures+=("$folder: build")
    return 0
  fi
  built=$SECONDS
  say "$folder: test"
  rm -f "$folder/meson-logs/testlog.json"
  if [ ${#suite[@]} -eq 0 ]; then suite=(--no-rebuild); fi
  # One more than processors: many tests wait for the disk and for programs that they start.
  meson test -C "$folder" "${suite[@]}" --num-processes $(($(nproc) + 1)) --print-errorlogs >&2 || true
  if [ -s "$folder/meson-logs/testlog.json" ]; then count "$folder"; else failed=$((failed + 1)) failures+=("$folder: no test ran"); fi
  say "$folder: built in $((built - start)) s, tested in $((SECONDS - built)) s"
}

# add_counts WHAT "N passed, N failed, N skipped": adds the last line of a script; a missing line counts as
# one failed test.
add_counts() {
  local ok bad skip
  read -r ok _ bad _ skip _ <<<"${2:-0 passed, 1 failed, 0 skipped}"
  [ "$bad" -eq 0 ] || failures+=("$1: $bad")
  passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
}

# add_status WHAT CODE: counts a script as one test by its exit code; 77 means skipped.
add_status() {
  case $2 in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)) failures+=("$1") ;;
  esac
}

# CUDA code is compiled for one architecture here; configure with the defaults to build all of them. Warnings
# are errors in continuous integration only, so that a build of quickstart.sh can be reused elsewhere.
strict=(); [ -z "${CI:-}" ] || strict=(-Dwerror=true)
build_and_test build "$suites" -Dtests=enabled -Dgpu_arch=90 "${strict[@]}"
# The tests of Python run one after another; with the other stages they run in the background.
test_python() {
  local start=$SECONDS
  say "Python"
  tests/python/run.sh build >build/python.count || true
  say "Python: tested in $((SECONDS - start)) s"
}
if $quick; then
  test_python
  add_counts Python "$(tail -n 1 build/python.count)"
else
  test_python 2>build/python.log &
  python=$!
  say "wheel"
  start=$SECONDS
  status=0
  { tools/wheel.sh --from build build/wheel && tests/install/wheel_test.sh build/wheel/sptile-*.whl; } >&2 || status=$?
  add_status wheel "$status"
  say "wheel: built and tested in $((SECONDS - start)) s"
  say "aarch64"
  status=0
  tools/cross/prepare.sh >&2 || status=$?
  if [ "$status" -eq 0 ]; then
    build_and_test build-aarch64 cross "${cross_options[@]}" -Dtests=enabled -Dcuda=disabled "${strict[@]}"
    { tools/wheel.sh --arch aarch64 --from build-aarch64 build/wheel-aarch64 && tests/cross/wheel_test.sh build/wheel-aarch64/sptile-*.whl; } >&2 || status=$?
    add_status "wheel for aarch64" "$status"
  else
    add_status "aarch64" "$status"
  fi
  say "site"
  start=$SECONDS
  status=0
  { tools/site.sh build/site && python3 tests/docs/site_test.py build/site; } >&2 || status=$?
  add_status site "$status"
  say "site: built and tested in $((SECONDS - start)) s"
  say "lint"
  add_counts lint "$(tools/lint.sh | tail -n 1)"
  wait "$python"
  cat build/python.log >&2
  add_counts Python "$(tail -n 1 build/python.count)"
  # Meson uses ccache automatically only for its default compilers.
  cached=; if command -v ccache >/dev/null; then cached='ccache '; fi
  export CC="${cached}clang-14" CXX="${cached}clang++-14"
  checked=(-Db_lundef=false -Doptimization=1 -Db_ndebug=false -Dc_args=-g1 -Dcpp_args=-g1 -Dcuda=disabled)
  export ASAN_OPTIONS=detect_stack_use_after_return=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
  export LSAN_OPTIONS=suppressions=$sptile_root/tests/lsan.supp:print_suppressions=0
  build_and_test build-asan all "${checked[@]}" -Db_sanitize=address,undefined -Dfuzzers=enabled
  status=0
  tests/python/sanitized.sh build-asan >&2 || status=$?
  add_status "Python with the address sanitizer" "$status"
  # OpenMP reports its synchronization to the thread sanitizer through Archer, a part of LLVM's runtime.
  export OMP_TOOL_LIBRARIES=/usr/lib/llvm-14/lib/libarcher.so
  export TSAN_OPTIONS=suppressions=$sptile_root/tests/tsan.supp:ignore_noninstrumented_modules=1:halt_on_error=1
  build_and_test build-tsan threads "${checked[@]}" -Db_sanitize=thread
fi

for failure in "${failures[@]}"; do echo "failed: $failure"; done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
