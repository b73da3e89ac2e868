#!/usr/bin/env python3
"""Iterative solvers of SciPy with SciPy's matrix and with sptile's operator.

    PYTHONPATH=runtime/python SPTILE_LIBRARY=build/runtime/libsptile.so.0 python tools/bench/solvers.py MATRIX.mtx...

MATRIX is a Matrix Market file, which may be compressed with xz. Linear systems and eigenvalue problems use a
symmetric positive definite matrix with the nonzeros of A + A^T: the normalized graph Laplacian of its absolute values,
with a diagonal shift. svds uses A. All matrices are float64. Solvers stop after a fixed number of iterations, so that
rounding does not change the number of products.

The results are compared before the first measurement. The programs run in turn, and each time is the minimum. A
separate run with SciPy's matrix counts the products and measures their share of the processor time. BLAS uses one
thread unless OPENBLAS_NUM_THREADS is set.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported

import argparse
import csv
import datetime
import lzma
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp
import scipy.sparse.linalg as sla
import sptile
from vendors import machine

Solver = Callable[[Any, np.ndarray], np.ndarray]
TOLERANCE = 1e-6  # relative difference of results
SHIFT = 1e-2  # shift of the diagonal


def cg(A: Any, b: np.ndarray) -> np.ndarray:
    return sla.cg(A, b, rtol=0, atol=0, maxiter=50)[0]


def gmres(A: Any, b: np.ndarray) -> np.ndarray:
    return sla.gmres(A, b, rtol=0, atol=0, restart=20, maxiter=2)[0]


def minres(A: Any, b: np.ndarray) -> np.ndarray:
    return sla.minres(A, b, rtol=0, maxiter=50)[0]


def lobpcg(A: Any, b: np.ndarray) -> np.ndarray:
    start = np.random.default_rng(0).standard_normal((b.size, 8))
    return np.sort(sla.lobpcg(A, start, largest=True, tol=1e-30, maxiter=15)[0])


def eigsh(A: Any, b: np.ndarray) -> np.ndarray:
    return np.sort(sla.eigsh(A, 6, which="LA", v0=b, tol=1e-3, return_eigenvectors=False))


def svds(A: Any, b: np.ndarray) -> np.ndarray:
    start = b[: min(A.shape)]
    return np.sort(sla.svds(A, 6, v0=start, tol=1e-3, return_singular_vectors=False))


SOLVERS: dict[str, Solver] = {
    solver.__name__: solver for solver in (cg, gmres, minres, lobpcg, eigsh, svds)
}


def read(path: Path) -> sp.csr_array:
    if path.suffix == ".xz":
        with lzma.open(path) as stream:
            return sp.csr_array(scipy.io.mmread(stream), dtype=np.float64)
    return sp.csr_array(scipy.io.mmread(path), dtype=np.float64)


def laplacian(A: sp.csr_array) -> sp.csr_array:
    """Returns a symmetric positive definite matrix with the nonzeros of A + A^T."""
    weights = abs(A) + abs(A.T)
    weights = sp.csr_array(weights - sp.diags_array(weights.diagonal()))
    weights.eliminate_zeros()
    degrees = weights.sum(axis=1)
    scale = sp.diags_array(1 / np.sqrt(np.where(degrees > 0, degrees, 1)))
    L = sp.csr_array((1 + SHIFT) * sp.eye_array(A.shape[0]) - scale @ weights @ scale)
    L.sort_indices()
    return L


class Counted(sla.LinearOperator):
    """An operator that counts its products and their processor time."""

    def __init__(self, A: Any) -> None:
        self.operator = sla.aslinearoperator(A)
        super().__init__(self.operator.dtype, self.operator.shape)
        self.calls, self.seconds = 0, 0.0

    def _timed(self, product: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
        begin = time.thread_time()
        result = product(x)
        self.seconds += time.thread_time() - begin
        self.calls += 1
        return result

    def _matvec(self, x: np.ndarray) -> np.ndarray:
        return self._timed(self.operator.matvec, x)

    def _rmatvec(self, x: np.ndarray) -> np.ndarray:
        return self._timed(self.operator.rmatvec, x)

    def _matmat(self, X: np.ndarray) -> np.ndarray:
        return self._timed(self.operator.matmat, X)

    def _rmatmat(self, X: np.ndarray) -> np.ndarray:
        return self._timed(self.operator.rmatmat, X)


def seconds_of(run: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def share_of_products(solver: Solver, A: Any, b: np.ndarray) -> tuple[int, float]:
    """Returns the number of products and their share of the solver's processor time."""
    counted = Counted(A)
    begin = time.thread_time()
    solver(counted, b)
    return counted.calls, counted.seconds / (time.thread_time() - begin)


def measure(name: str, A: sp.csr_array, given: argparse.Namespace) -> list[dict[str, Any]]:
    """Returns one row for each number of threads."""
    solver, b = SOLVERS[name], np.random.default_rng(1).standard_normal(max(A.shape))
    operators = {threads: sptile.aslinearoperator(A, threads=threads) for threads in given.threads}
    expected = solver(A, b)
    for threads, operator in operators.items():
        difference = np.linalg.norm(solver(operator, b) - expected) / np.linalg.norm(expected)
        if not difference <= TOLERANCE:
            sys.exit(f"{name} with {threads} threads: results differ from SciPy's by {difference:.1e}")
    matrices: dict[int, Any] = {0: A, **operators}  # 0: SciPy
    least = dict.fromkeys(matrices, float("inf"))
    end = time.perf_counter() + given.seconds
    rounds = 0
    while rounds < given.repeats or time.perf_counter() < end:
        for key, matrix in matrices.items():
            least[key] = min(least[key], seconds_of(lambda matrix=matrix: solver(matrix, b)))
        rounds += 1
    products, share = share_of_products(solver, A, b)
    return [
        {
            "solver": name,
            "threads": threads,
            "products": products,
            "scipy_ms": f"{least[0] * 1e3:.2f}",
            "sptile_ms": f"{least[threads] * 1e3:.2f}",
            "speedup": f"{least[0] / least[threads]:.2f}",
            "share": f"{share:.3f}",
        }
        for threads in operators
    ]


def origin() -> dict[str, str]:
    """Returns where and when the measurement was made."""
    return {
        "processor": machine.processor(len(os.sched_getaffinity(0))),
        "date": datetime.date.today().isoformat(),
        "commit": machine.commit(Path(__file__).parent),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("MATRIX", nargs="+", type=Path)
    parser.add_argument("--solvers", nargs="+", choices=list(SOLVERS), default=list(SOLVERS))
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2], help="threads of sptile")
    parser.add_argument("--repeats", type=int, default=3, help="minimum number of runs")
    parser.add_argument("--seconds", type=float, default=3, help="minimum time of all runs of a solver and matrix")
    parser.add_argument("--csv", type=Path, help="file to write")
    given = parser.parse_args()
    warnings.filterwarnings("ignore", message="(?s).*tolerance", category=UserWarning)  # lobpcg stops early
    where, rows = origin(), []
    for path in given.MATRIX:
        A = read(path)
        L = laplacian(A) if A.shape[0] == A.shape[1] else None
        for name in given.solvers:
            matrix = A if name == "svds" else L
            if matrix is None:
                continue
            found = {"matrix": path.name.split(".mtx")[0], "rows": matrix.shape[0], "nnz": matrix.nnz}
            for row in measure(name, matrix, given):
                rows.append({**found, **row, **where})
                print(
                    f"{found['matrix']:20s} {name:7s} {row['threads']} threads: {row['speedup']} times as fast, "
                    f"{row['scipy_ms']} ms with SciPy, {row['products']} products, "
                    f"{float(row['share']):.0%} of the time",
                    flush=True,
                )
    if given.csv is not None:
        with given.csv.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
