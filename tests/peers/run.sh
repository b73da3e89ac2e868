#!/usr/bin/env bash
# Runs test suites of other projects and compares each product in them with sptile's. On request only: their tests are
# not part of this project, and the caller fetches them.
#
#   tests/peers/run.sh BUILD scipy [PYTEST_ARGUMENT]...          tests that SciPy's wheel has
#   tests/peers/run.sh BUILD pyg SOURCES [PYTEST_ARGUMENT]...    SOURCES: a checkout of PyG of the installed version
#   tests/peers/run.sh BUILD torch SOURCES [PYTEST_ARGUMENT]...  SOURCES: a checkout of PyTorch of the installed version
#
# Tests of the other project may fail for reasons of its own; what counts is the last line: products that are right, refused
# by an error of sptile, wrong, or that crash. The exit code is 0 unless one is wrong or crashes. It uses the environment of
# tests/python/run.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
usage() { sed -n '5,7s/^# *//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
[ $# -ge 2 ] || usage
build=$(cd "$1" && pwd) peer=$2
shift 2

python=${SPTILE_TEST_PYTHON:-$PWD/.venv-tests/bin/python}
case $peer in
  scipy)
    tests=(--pyargs scipy.sparse.linalg)
    ;;
  pyg | torch)
    [ $# -ge 1 ] || usage
    sources=$(cd "$1" && pwd)
    shift
    case $peer in
      pyg)
        tests=("$sources"/test/nn/conv/test_{gcn,sage,gin,gat,agnn,graph,lg,sg,tag,cheb,arma,cluster_gcn,rgcn}_conv.py
          "$sources"/test/nn/conv/test_appnp.py "$sources"/test/nn/models/test_basic_gnn.py)
        ;;
      torch) tests=("$sources"/test/test_sparse.py "$sources"/test/test_sparse_csr.py) ;;
    esac
    ;;
  *) usage ;;
esac

export OMP_NUM_THREADS=1 SPTILE_LIBRARY=$build/runtime/libsptile.so.0
export PYTHONPATH=$PWD/runtime/python:$PWD/tests/peers${PYTHONPATH:+:$PYTHONPATH}
# Not in the project's folder, whose settings of pytest are for its own tests.
cd "$(mktemp -d)"
exec "$python" -m pytest -q -p no:cacheprovider -p "compare_$peer" --tb=no "${tests[@]}" "$@"
