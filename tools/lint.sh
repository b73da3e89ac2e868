#!/usr/bin/env bash
# Checks the sources without running them. Each check counts as one test; the last line is "N passed, N failed, N skipped".
#
#   tools/lint.sh [format|shell|python|spelling|prose|tidy]...     default: all
#
# format    clang-format over C, C++ and CUDA
# shell     shellcheck over shell scripts
# python    ruff, with the rules of pyproject.toml
# spelling  codespell
# prose     unidiomatic constructions, tools/lint/prose.py
# tidy      clang-tidy over everything that is compiled, except tests
set -euo pipefail
# shellcheck source=tools/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$sptile_root"

sources() { find formats reorder runtime tools tests -regex '.*\.\(c\|h\|cpp\|hpp\|cu\|cuh\)' -print0; }
scripts() { find .ci/run tools tests -name '*.sh' -print0 -o -path .ci/run -print0; }

# all_cores COMMAND...: runs COMMAND on the NUL-separated names of standard input, several per call, on every
# core.
all_cores() { xargs -0 -n "${batch:-8}" -P "$(nproc)" "$@"; }

check_format() { sources | batch=64 all_cores clang-format-14 --dry-run -Werror; }

check_shell() { scripts | batch=32 all_cores shellcheck; }

# python_tool NAME ARGUMENT...: runs a Python tool in the version of .pre-commit-config.yaml; 77 if it cannot
# be installed.
python_tool() {
  local name=$1 environment=$sptile_root/.venv-lint requirement
  shift
  requirement=$(sed -n "s/.*\\($name==[0-9.]*\\).*/\\1/p" .pre-commit-config.yaml)
  [ -x "$environment/bin/python" ] || python3 -m venv "$environment"
  if [ "$("$environment/bin/python" -m pip freeze --disable-pip-version-check | grep "^$name==")" != "$requirement" ]; then
    "$environment/bin/python" -m pip install -q --disable-pip-version-check "$requirement" || return 77
  fi
  "$environment/bin/$name" "$@"
}

check_python() { python_tool ruff check --quiet; }

check_spelling() { python_tool codespell; }

check_prose() { tools/lint/prose.py; }

# Runs clang-tidy on the names of standard input, without its messages on suppressed warnings.
tidy() { tr '\n' '\0' | batch=1 all_cores clang-tidy-14 -p build-lint --quiet 2> >(grep -v ' warnings\? generated\.$'); }

# As in builds with sanitizers, sources of tools/ are compiled together, so that their headers are inspected
# once for several sources.
check_tidy() {
  CC=clang-14 CXX=clang++-14 configure build-lint -Db_sanitize=undefined -Db_lundef=false -Dablations=enabled
  ninja -C build-lint -t targets all | sed -n 's/\.inc: .*/.inc/p' | xargs ninja -C build-lint >&2
  jq -r '.[] | .directory + "/" + .file' build-lint/compile_commands.json | grep '\.cpp$' | grep -v '/tests/' | sort -u | tidy
}

[ $# -gt 0 ] || set -- format shell python spelling prose tidy
for what in "$@"; do
  case $what in
    format|shell|python|spelling|prose|tidy) ;;
    *) echo "usage: tools/lint.sh [format|shell|python|spelling|prose|tidy]..." >&2; exit 2 ;;
  esac
done
install_packages "${build_packages[@]}" "${lint_packages[@]}" jq

passed=0 failed=0 skipped=0
for what in "$@"; do
  start=$SECONDS status=0
  "check_$what" >&2 || status=$?
  case $status in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)); say "lint: $what SKIPPED, its tool cannot be installed" ;;
    *) failed=$((failed + 1)); say "lint: $what failed" ;;
  esac
  say "lint: $what in $((SECONDS - start)) s"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
