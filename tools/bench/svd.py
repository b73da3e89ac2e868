#!/usr/bin/env python3
"""Truncated SVD by sptile.linalg.svds and by svds of SciPy at the same accuracy.

    PYTHONPATH=runtime/python SPTILE_LIBRARY=build/runtime/libsptile.so.0 python tools/bench/svd.py --csv FILE

The matrix has normalized logarithms of counts: rows are cells of 20 kinds, columns genes with rates per kind. Singular
values beyond the 20th are close to each other, so that most of the iterations are for them.

The programs run in turn. Each time is the median, the speedup the median of the ratios of one round. Seconds of the
processor are those of all threads of the process. The residual is the largest norm of A v - s u and A^T u - s v,
relative to s[0]. That of SciPy is the tolerance of sptile: SciPy's own tolerance is on the squares of singular values, and
its first restart may reach far more.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported

import argparse
import csv
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla
import sptile.linalg
from solvers import origin

KINDS = 20
FLOOR = {"float32": 2e-6, "float64": 1e-12}  # residuals that rounding errors permit


def cells(rows: int, cols: int, dtype: str) -> sp.csr_array:
    """Returns a matrix of `rows` cells and `cols` genes with about 300 nonzeros per cell."""
    rng = np.random.default_rng(0)
    rates = rng.lognormal(0, 1.5, cols) * rng.lognormal(0, 0.8, (KINDS, cols))
    rates /= rates.sum(1, keepdims=True)
    kind, depth = rng.integers(KINDS, size=rows), rng.lognormal(np.log(500), 0.4, rows).astype(int)
    row, col = [], []
    for one in range(KINDS):
        members = np.flatnonzero(kind == one)
        col.append(rng.choice(cols, size=depth[members].sum(), p=rates[one]))
        row.append(np.repeat(members, depth[members]))
    ids = np.concatenate(row).astype(np.int32), np.concatenate(col).astype(np.int32)
    A = sp.csr_array(sp.coo_array((np.ones(len(ids[0])), ids), shape=(rows, cols)))
    A.data = np.log1p(1e4 * A.data / np.repeat(A.sum(axis=1), np.diff(A.indptr)))
    A.sort_indices()
    return A.astype(dtype)


def residual(A: sp.csr_array, U: Any, s: Any, Vt: Any) -> float:
    A, U, s, V = A.astype(np.float64), U.astype(np.float64), s.astype(np.float64), Vt.T.astype(np.float64)
    sides = A @ V - U * s, A.T @ U - V * s
    return max(float(np.linalg.norm(side, axis=0).max()) for side in sides) / float(s.max())


def timed(run: Callable[[], Any]) -> tuple[Any, float, float]:
    """Returns a result, the time and the processor time."""
    begin, processor = time.perf_counter(), time.process_time()
    found = run()
    return found, time.perf_counter() - begin, time.process_time() - processor


def measure(A: sp.csr_array, k: int, given: argparse.Namespace) -> list[dict[str, Any]]:
    """Returns one row for each method of sptile."""
    reached = residual(A, *sla.svds(A, k, tol=given.tol, rng=np.random.default_rng(0)))
    rtol = max(reached, FLOOR[str(A.dtype)])
    programs: dict[str, Callable[[], Any]] = {
        method: lambda method=method: sptile.linalg.svds(A, k, method=method, rtol=rtol) for method in given.methods
    }
    programs["scipy"] = lambda: sla.svds(A, k, tol=given.tol, rng=np.random.default_rng(0))
    rounds = [{name: timed(run) for name, run in programs.items()} for _ in range(given.repeats)]

    def median(number: Callable[[dict[str, Any]], float]) -> float:
        return float(np.median([number(one) for one in rounds]))

    return [
        {
            "rows": A.shape[0],
            "cols": A.shape[1],
            "nnz": A.nnz,
            "type": str(A.dtype),
            "k": k,
            "method": method,
            "scipy_s": f"{median(lambda one: one['scipy'][1]):.2f}",
            "sptile_s": f"{median(lambda one, m=method: one[m][1]):.2f}",
            "speedup": f"{median(lambda one, m=method: one['scipy'][1] / one[m][1]):.2f}",
            "scipy_processor_s": f"{median(lambda one: one['scipy'][2]):.2f}",
            "sptile_processor_s": f"{median(lambda one, m=method: one[m][2]):.2f}",
            "scipy_residual": f"{residual(A, *rounds[0]['scipy'][0]):.1e}",
            "sptile_residual": f"{residual(A, *rounds[0][method][0]):.1e}",
            "load": f"{os.getloadavg()[0]:.0f}",
        }
        for method in given.methods
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--cols", type=int, default=5_000)
    parser.add_argument("--k", type=int, nargs="+", default=[20, 50])
    parser.add_argument("--types", nargs="+", default=["float32", "float64"])
    parser.add_argument("--methods", nargs="+", default=["lanczos", "randomized"])
    parser.add_argument("--tol", type=float, default=1e-2, help="tolerance of SciPy")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--csv", type=Path, help="file to write")
    given = parser.parse_args()
    rows = []
    for dtype in given.types:
        A = cells(given.rows, given.cols, dtype)
        for k in given.k:
            for row in measure(A, k, given):
                rows.append({**row, **origin()})
                print(f"{dtype} k={k} {row['method']}: {row['speedup']} times as fast", flush=True)
    if given.csv:
        with given.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
