#!/usr/bin/env bash
# Looks at the sources without running them: clang-format over all C, C++ and CUDA, shellcheck over all shell scripts,
# clang-tidy (with the checks of .clang-tidy) over all that is compiled, except tests. Each counts as one test; ends with
# "N passed, N failed, N skipped".
#
#   tools/lint.sh [format|shell|tidy]...     default: all three
set -euo pipefail
# shellcheck source=tools/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$sptile_root"

sources() { find formats reorder runtime tools tests -regex '.*\.\(c\|h\|cpp\|hpp\|cu\|cuh\)' -print0; }
scripts() { find .ci/run tools tests -name '*.sh' -print0 -o -path .ci/run -print0; }

# all_cores COMMAND...: with the names that come in, separated by NUL, a few at a time on every core.
all_cores() { xargs -0 -n "${batch:-8}" -P "$(nproc)" "$@"; }

check_format() { sources | batch=64 all_cores clang-format-14 --dry-run -Werror; }

check_shell() { scripts | batch=32 all_cores shellcheck; }

# tidy ARGUMENT...: clang-tidy over the names that come in. What it says of the warnings that it left out is dropped.
tidy() { tr '\n' '\0' | batch=1 all_cores clang-tidy-14 -p build-lint --quiet "$@" 2> >(grep -v ' warnings\? generated\.$'); }

# As builds with sanitizers compile it: sources of tools/ come together, so that their headers are inspected once for
# several. Measuring programs, which no build of the tests contains, are checked to compile, and by one check: it needs
# at least one.
check_tidy() {
  local sources
  CC=clang-14 CXX=clang++-14 configure build-lint -Db_sanitize=undefined -Db_lundef=false -Dbenchmarks=enabled
  ninja -C build-lint -t targets all | sed -n 's/\.inc: .*/.inc/p' | xargs ninja -C build-lint >&2
  sources=$(jq -r '.[] | .directory + "/" + .file' build-lint/compile_commands.json | grep '\.cpp$' | grep -v '/tests/' | sort -u)
  grep -v '/tools/bench/' <<<"$sources" | tidy && grep '/tools/bench/' <<<"$sources" | tidy --checks='-*,bugprone-bool-pointer-implicit-conversion'
}

[ $# -gt 0 ] || set -- format shell tidy
for what in "$@"; do
  case $what in
    format|shell|tidy) ;;
    *) echo "usage: tools/lint.sh [format|shell|tidy]..." >&2; exit 2 ;;
  esac
done
install_packages "${build_packages[@]}" "${lint_packages[@]}" jq

passed=0 failed=0
for what in "$@"; do
  start=$SECONDS
  if "check_$what" >&2; then passed=$((passed + 1)); else failed=$((failed + 1)); say "lint: $what failed"; fi
  say "lint: $what in $((SECONDS - start)) s"
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
