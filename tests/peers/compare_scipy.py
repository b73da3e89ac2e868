"""A plugin of pytest: operators of sparse matrices inside SciPy's solvers are sptile's, each product compared."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.linalg as linalg
from tally import compare, pytest_sessionfinish, pytest_terminal_summary  # noqa: F401 (hooks)

import sptile

_original = linalg.aslinearoperator


class _Compared(linalg.LinearOperator):  # type: ignore[misc]
    """An operator of sptile; SciPy's product is formed beside each of its own."""

    def __init__(self, matrix: Any, operator: Any, adjoint: Any = None) -> None:
        self.A, self._operator = matrix, operator
        super().__init__(matrix.dtype, matrix.shape)

    def _both(self, name: str, matrix: Any, x: Any) -> Any:
        expected = matrix @ x
        found: list[Any] = []

        def product() -> Any:
            found.append(getattr(self._operator, name)(x))
            if found[0].dtype != expected.dtype:
                raise TypeError(f"{found[0].dtype}, not {expected.dtype}")
            return found[0]

        tolerance = 1e-4 if np.finfo(expected.dtype).bits == 32 else 1e-11
        what = f"{name} of {matrix.dtype} {matrix.shape} and {x.dtype} {x.shape}"
        compare(what, product, expected, tolerance, abs(matrix) @ np.abs(x))
        return found[0] if found else expected

    def _matvec(self, x: Any) -> Any:
        return self._both("matvec", self.A, x)

    def _matmat(self, x: Any) -> Any:
        return self._both("matmat", self.A, x)

    def _rmatvec(self, x: Any) -> Any:
        return self._both("rmatvec", self.A.T.conj(), x)

    def _rmatmat(self, x: Any) -> Any:
        return self._both("rmatmat", self.A.T.conj(), x)


def _aslinearoperator(A: Any) -> Any:
    if scipy.sparse.issparse(A) and A.ndim == 2 and A.dtype in (np.float32, np.float64):
        return _Compared(A, sptile.aslinearoperator(A.tocsr()))
    return _original(A)


def pytest_configure() -> None:
    """Solvers have a name of their own for the function."""
    for _, name, _ in pkgutil.walk_packages(linalg.__path__, "scipy.sparse.linalg."):
        if ".tests" not in name:
            module = importlib.import_module(name)
            if getattr(module, "aslinearoperator", None) is _original:
                module.aslinearoperator = _aslinearoperator  # type: ignore[attr-defined]
    linalg.aslinearoperator = _aslinearoperator
