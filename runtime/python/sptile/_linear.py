"""Linear operators for SciPy's solvers. SciPy is imported when the first is made."""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import Any, cast

import numpy as np

from . import _arrays
from ._options import PlanSettings
from ._plan import Plan
from .bundle import Bundle, CsrMemory
from .errors import UsageError
from .products import fitting

_MADE = threading.Lock()  # held while something of an operator is made that is kept
_FOR_ANY_FORMAT = ("threads", "nonfinite", "transpose")


class _Products:
    """Plans of one side of a matrix, kept by width."""

    def __init__(self, bundle: Bundle, options: PlanSettings) -> None:
        self.bundle = bundle
        self.options = options
        self.plans: dict[int, Plan] = {}

    def __call__(self, B: Any) -> Any:
        n = B.shape[1] if B.ndim == 2 else 1
        plan = self.plans.get(n)
        return (self.plan_for(max(n, 1)) if plan is None else plan)(B)

    def plan_for(self, n: int) -> Plan:
        """Returns the narrowest plan that suits n columns, planning it if needed."""
        found = fitting(self.plans, n)
        if found is not None:
            return found
        with _MADE:
            found = fitting(self.plans, n)
            if found is None:
                found = self.plans[n] = self.bundle.plan(n, **self.options)
        return found


def _in_memory(bundle: Bundle, dtype: Any = None) -> Bundle:
    """The same matrix as CSR arrays, from which its transpose is made; with values of another type."""
    from scipy.sparse import csr_array  # type: ignore[import-untyped, import-not-found, unused-ignore]

    indptr, indices, values = bundle.csr()
    if values is None:
        return Bundle.of(bundle.tocsr().astype(dtype or np.float32))
    matrix = csr_array(bundle.shape, dtype=np.float64)
    matrix.indptr, matrix.indices = indptr, indices
    matrix.data = values if dtype is None else values.astype(dtype)
    return Bundle.of(matrix)


class _Sides:
    """Products of a matrix and of its transpose, in each type that was needed."""

    def __init__(self, bundle: Bundle, options: PlanSettings) -> None:
        self.bundle, self.options = bundle, options
        self.transposed = bool(options.get("transpose"))
        self.dtype = _arrays.numpy_dtype(
            _arrays.dtype_code(options.get("dtype") or bundle.dtype or "float32")
        )
        self._products: dict[tuple[Any, bool], _Products] = {}
        self._wide: Bundle | None = None

    def of(self, dtype: Any, transposed: bool) -> _Products:
        found = self._products.get((dtype, transposed))
        if found is None:
            with _MADE:
                found = self._products.setdefault((dtype, transposed), self._make(dtype, transposed))
        return found

    def _make(self, dtype: Any, transposed: bool) -> _Products:
        options: PlanSettings = {**self.options, "transpose": transposed}
        if dtype == self.dtype:
            bundle = self.bundle
            if transposed != self.transposed and not self._has_transpose():
                if options.get("refreshable"):
                    raise UsageError("refreshable=True requires a bundle with formats of the transpose")
                bundle = _in_memory(bundle)
            return _Products(bundle, options)
        if options.get("refreshable"):
            raise UsageError(
                f"refreshable=True requires {self.dtype} operands, got {dtype}: other types use a copy of the values, "
                "which refresh does not update"
            )
        kept = cast(PlanSettings, {name: value for name, value in options.items() if name in _FOR_ANY_FORMAT})
        if dtype == np.float32 and self.bundle.dtype is not None and self.bundle.dtype.itemsize == 2:
            return _Products(self.bundle, {**kept, "dtype": dtype})
        if self._wide is None:
            self._wide = _in_memory(self.bundle, np.float64)
        return _Products(self._wide, kept)

    def _has_transpose(self) -> bool:
        """Whether the transpose can be planned on the CPU: a file may have no formats of it."""
        return self.bundle.symmetric is True or isinstance(self.bundle._handle(False).source, CsrMemory)

    def product(self, B: Any, transposed: bool) -> Any:
        """A product in the type that SciPy gives it."""
        B = np.asarray(B)
        own = self.dtype
        if B.dtype == own:
            return self.of(own, transposed)(B)
        if B.dtype.kind not in "biufc" or B.dtype.itemsize > (16 if B.dtype.kind == "c" else 8):
            raise UsageError(
                f"the operand must have real numbers of at most 64 bits or complex ones of at most 128, got {B.dtype}"
            )
        result = np.result_type(own, B.dtype)
        if result.kind == "c":
            real, imaginary = self.product(B.real, transposed), self.product(B.imag, transposed)
            both = np.empty(real.shape, result)
            both.real, both.imag = real, imaginary
            return both
        return self.of(result, transposed)(B.astype(result))


@lru_cache(maxsize=1)
def _operator_class() -> Any:
    """The class of operators."""
    from scipy.sparse.linalg import LinearOperator  # type: ignore[import-untyped, import-not-found, unused-ignore]

    class Operator(LinearOperator):  # type: ignore[misc]
        """A matrix, or its transpose, as SciPy's solvers take it."""

        def __init__(self, sides: _Sides, transposed: bool) -> None:
            rows, cols = sides.bundle.shape
            super().__init__(sides.dtype, (cols, rows) if transposed else (rows, cols))
            self.bundle = sides.bundle
            self._sides, self._transposed = sides, transposed

        @property
        def plans(self) -> dict[int, Plan]:
            return self._sides.of(self._sides.dtype, self._transposed).plans

        def _matvec(self, x: Any) -> Any:
            return self._sides.product(x, self._transposed)

        _matmat = _matvec

        def _rmatvec(self, x: Any) -> Any:
            return self._sides.product(x, not self._transposed)

        _rmatmat = _rmatvec

        def _transpose(self) -> Any:
            return Operator(self._sides, not self._transposed)

        _adjoint = _transpose  # values are real

        def __reduce__(self) -> tuple[Any, ...]:
            return _again, (self.bundle, self._sides.options, self._transposed)

    return Operator


def _again(bundle: Bundle, options: PlanSettings, transposed: bool) -> Any:
    return _operator_class()(_Sides(bundle, options), transposed)


def operator_of(bundle: Bundle, options: PlanSettings) -> Any:
    """A LinearOperator of a matrix; see `sptile.aslinearoperator`."""
    device = options.get("device") or bundle.device
    if device != "cpu":
        raise UsageError(f"aslinearoperator requires device 'cpu', got {device!r}")
    sides = _Sides(bundle, options)
    return _operator_class()(sides, sides.transposed)
