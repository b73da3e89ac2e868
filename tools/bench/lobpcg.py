"""Eigenvalues of a symmetric matrix with SciPy's lobpcg: SciPy's product compared with sptile's.

    PYTHONPATH=runtime/python SPTILE_LIBRARY=build/runtime/libsptile.so.0 python tools/bench/lobpcg.py
    python tools/bench/lobpcg.py ship_001.mtx.xz -k 32

IN is a file that `sptile.read` or `scipy.io.mmread` can read, or a bundle. By default the program generates a plate
of finite elements.
"""

from __future__ import annotations

import argparse
import json
import lzma
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp
import scipy.sparse.linalg as sla
import sptile


def plate(side: int) -> sp.csr_array:
    """Stiffness of a square plate of side x side bilinear elements with a fixed edge: Poisson's equation, 9
    entries a row; symmetric and positive definite."""
    stiffness = sp.diags_array(
        [np.full(side - 1, -1.0), np.full(side, 2.0), np.full(side - 1, -1.0)], offsets=[-1, 0, 1]
    )
    mass = (
        sp.diags_array(
            [np.full(side - 1, 1.0), np.full(side, 4.0), np.full(side - 1, 1.0)], offsets=[-1, 0, 1]
        )
        / 6
    )
    return sp.csr_array(sp.kron(stiffness, mass) + sp.kron(mass, stiffness))


def read(path: Path) -> sp.csr_array:
    if path.suffix == ".h5":
        return sptile.open(path).tocsr()
    if path.suffix == ".xz":
        with lzma.open(path) as stream:
            return sp.csr_array(scipy.io.mmread(stream))
    return sp.csr_array(scipy.io.mmread(path))


class Timed:
    """A product that counts its calls and seconds."""

    def __init__(self, product: Any) -> None:
        self.product, self.calls, self.seconds = product, 0, 0.0

    def __call__(self, block: np.ndarray) -> np.ndarray:
        begin = time.perf_counter()
        result = self.product(block)
        self.seconds += time.perf_counter() - begin
        self.calls += 1
        return result


def solve(A: sp.csr_array, product: Any, given: argparse.Namespace) -> dict[str, Any]:
    timed = Timed(product)
    operator = sla.LinearOperator(A.shape, matvec=timed, matmat=timed, dtype=np.float64)
    inverse = 1 / A.diagonal()
    jacobi = sla.LinearOperator(
        A.shape, matvec=lambda x: (x.T * inverse).T, matmat=lambda x: (x.T * inverse).T
    )
    start = np.random.default_rng(0).standard_normal((A.shape[0], given.k))
    begin = time.perf_counter()
    values, vectors = sla.lobpcg(
        operator,
        start,
        M=None if given.largest else jacobi,
        largest=given.largest,
        tol=given.tol,
        maxiter=given.maxiter,
    )
    seconds = time.perf_counter() - begin
    return {
        "eigenvalues": np.sort(values),
        "residual": float(np.linalg.norm(A @ vectors - vectors * values, axis=0).max() / given.norm),
        "seconds": seconds,
        "products": timed.calls,
        "product_seconds": timed.seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("IN", nargs="?", type=Path)
    parser.add_argument("-k", type=int, default=16, help="number of eigenvalues")
    parser.add_argument("--side", type=int, default=150, help="elements along an edge of the plate")
    parser.add_argument("--smallest", dest="largest", action="store_false")
    parser.add_argument(
        "--tol", type=float, default=1e-5, help="maximum residual, relative to the norm of the matrix"
    )
    parser.add_argument("--maxiter", type=int, default=200)
    parser.add_argument("--format", default="auto")
    parser.add_argument("--threads", type=int, default=0, help="number of threads of sptile; SciPy's product uses one")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    A = (plate(given.side) if given.IN is None else read(given.IN)).astype(np.float64)
    given.norm = sla.norm(A, 1)
    given.tol *= given.norm
    source: Any = given.IN if given.IN is not None and given.IN.suffix == ".h5" else A

    begin = time.perf_counter()
    operator = sptile.aslinearoperator(source, dtype="float64", format=given.format, threads=given.threads)
    operator @ np.zeros((A.shape[0], given.k))
    planning = time.perf_counter() - begin
    scipy_found, sptile_found = solve(A, A.__matmul__, given), solve(A, operator.matmat, given)
    difference = float(np.abs(scipy_found["eigenvalues"] / sptile_found["eigenvalues"] - 1).max())
    if given.json:
        for found in (scipy_found, sptile_found):
            found["eigenvalues"] = found["eigenvalues"].tolist()
        print(
            json.dumps(
                {
                    "scipy": scipy_found,
                    "sptile": sptile_found,
                    "planning_seconds": planning,
                    "difference": difference,
                }
            )
        )
        return
    kernel = next(iter(operator.plans.values())).kernel
    print(f"{A.shape[0]} rows, {A.nnz} entries, {given.k} eigenvalues, {kernel}; planned in {planning:.3f} s")
    for name, found in (("scipy", scipy_found), ("sptile", sptile_found)):
        each = found["product_seconds"] / found["products"] * 1e3
        print(
            f"{name:7s} {found['seconds']:8.2f} s, including {found['products']} products "
            f"{found['product_seconds']:8.2f} s ({each:.2f} ms each), residual {found['residual']:.1e}"
        )
    print(f"maximum relative difference of an eigenvalue: {difference:.1e}")


if __name__ == "__main__":
    main()
