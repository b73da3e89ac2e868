#!/usr/bin/env bash
# Installs what is missing, builds, runs every test, ends with one line "N passed, N failed".
# Three builds: release (all tests), address + undefined-behaviour sanitizers (all tests again), and libFuzzer with
# clang (a short run of each fuzzer). The second time only what changed is built.
#
#   tools/run-tests.sh [--quick]     --quick: the release build alone
set -euo pipefail
# shellcheck source=tools/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$sptile_root"

quick=false
case "${1:-}" in
  --quick) quick=true ;;
  '') ;;
  *) echo "usage: tools/run-tests.sh [--quick]" >&2; exit 2 ;;
esac

install_packages "${build_packages[@]}" "${test_packages[@]}"

passed=0 failed=0

# count FOLDER: adds up the results that meson left for its last run there.
count() {
  local log="$1/meson-logs/testlog.json" ok bad
  ok=$(jq -s '[.[] | select(.result == "OK" or .result == "EXPECTEDFAIL")] | length' "$log")
  bad=$(jq -s '[.[] | select(.result != "OK" and .result != "EXPECTEDFAIL" and .result != "SKIP")] | length' "$log")
  passed=$((passed + ok)) failed=$((failed + bad))
}

# build_and_test FOLDER OPTION...: a build that fails counts as one failed test.
build_and_test() {
  local folder=$1
  shift
  say "$folder: configure and build"
  if ! { configure "$folder" "$@" && ninja -C "$folder"; } >&2; then
    failed=$((failed + 1))
    return 0
  fi
  say "$folder: test"
  rm -f "$folder/meson-logs/testlog.json"
  meson test -C "$folder" --no-rebuild --print-errorlogs >&2 || true
  if [ -s "$folder/meson-logs/testlog.json" ]; then count "$folder"; else failed=$((failed + 1)); fi
}

# CUDA code is compiled for one architecture here; configure with the defaults to build all of them.
build_and_test build -Dwerror=true -Dgpu_arch=90
if ! $quick; then
  export ASAN_OPTIONS=detect_stack_use_after_return=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
  export LSAN_OPTIONS=suppressions=$sptile_root/tests/lsan.supp:print_suppressions=0
  sanitized=(-Db_sanitize=address,undefined -Doptimization=1 -Db_ndebug=false -Dc_args=-g1 -Dcpp_args=-g1 -Dcuda=disabled)
  build_and_test build-asan "${sanitized[@]}"
  CC=clang-14 CXX=clang++-14 build_and_test build-fuzz "${sanitized[@]}" -Db_lundef=false -Dfuzzers=enabled
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
