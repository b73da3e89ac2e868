"""Linear operators for SciPy's solvers. SciPy is imported on first use."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, cast

import numpy as np

from . import _arrays
from ._calls import Recent
from ._options import PlanSettings
from ._plan import Plan
from .bundle import Bundle, CsrMemory, fitting
from .errors import UsageError

_MADE = threading.Lock()  # held while cached members of an operator are created
_FOR_ANY_FORMAT = ("threads", "nonfinite", "transpose")


class _Products:
    """Plans of one side of a matrix, kept by width."""

    def __init__(self, bundle: Bundle, options: PlanSettings) -> None:
        self.bundle = bundle
        self.options = options
        self.plans: dict[int, Plan] = {}

    def plan_for(self, B: Any) -> Plan:
        """Returns the narrowest plan that suits the columns of B, planning it if needed."""
        n = max(B.shape[1], 1) if B.ndim == 2 else 1
        found = self.plans.get(n) or fitting(self.plans, n)
        if found is not None:
            return found
        with _MADE:
            found = fitting(self.plans, n)
            if found is None:
                found = self.plans[n] = self.bundle.plan(n, **self.options)
        return found


def _in_memory(bundle: Bundle, dtype: Any = None) -> Bundle:
    """Returns the matrix as CSR arrays, the source of its transpose, with values of another type."""
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


class _Side(Recent):
    """Products of a matrix, or of its transpose."""

    __slots__ = ("sides", "transposed")

    def __init__(self, sides: _Sides, transposed: bool) -> None:
        super().__init__()
        self.sides, self.transposed = sides, transposed

    @property
    def plans(self) -> dict[int, Plan]:
        return self.sides.of(self.sides.dtype, self.transposed).plans

    def product(self, B: Any, out: Any = None) -> Any:
        """A product in the type that SciPy gives it."""
        B = np.asarray(B)
        result = self._result_type(B.dtype)
        if result.kind == "c":
            return self._complex(B, result, out)
        plan = self.sides.of(result, self.transposed).plan_for(B)
        C = plan(B.astype(result, copy=False), out)
        self.remember(plan._multiply, B.ndim)
        return C

    def _result_type(self, dtype: Any) -> Any:
        own = self.sides.dtype
        if dtype == own:
            return own
        if dtype.kind not in "biufc" or dtype.itemsize > (16 if dtype.kind == "c" else 8):
            raise UsageError(
                f"the operand must have real numbers of at most 64 bits or complex ones of at most 128, got {dtype}"
            )
        return np.result_type(own, dtype)

    def _complex(self, B: Any, result: Any, out: Any) -> Any:
        real, imaginary = self.product(B.real), self.product(B.imag)
        if out is None:
            out = np.empty(real.shape, result)
        elif type(out) is not np.ndarray or out.dtype != result or out.shape != real.shape:
            raise UsageError(f"out must be a NumPy array of type {result} and shape {real.shape}")
        out.real, out.imag = real, imaginary
        return out


@lru_cache(maxsize=1)
def _operator_class() -> Any:
    """The class of operators."""
    from scipy.sparse.linalg import LinearOperator  # type: ignore[import-untyped, import-not-found, unused-ignore]

    class Checked(LinearOperator):  # type: ignore[misc]
        """A matrix, or its transpose, whose operands SciPy checks."""

        def __init__(self, ahead: _Side, behind: _Side, out: Any = None) -> None:
            rows, cols = ahead.sides.bundle.shape
            super().__init__(ahead.sides.dtype, (cols, rows) if ahead.transposed else (rows, cols))
            self._ahead, self._behind, self._out = ahead, behind, out

        def _matvec(self, x: Any) -> Any:
            return self._ahead.product(x, self._out)

        _matmat = _matvec

        def _rmatvec(self, x: Any) -> Any:
            return self._behind.product(x, self._out)

        _rmatmat = _rmatvec

    class Operator(Checked):
        """A matrix, or its transpose, in the form that SciPy's solvers accept.

        SciPy's checks take longer than a small product. Operands like those of the previous product bypass them.
        """

        @property
        def bundle(self) -> Bundle:
            return self._ahead.sides.bundle

        @property
        def plans(self) -> dict[int, Plan]:
            return self._ahead.plans

        def matvec(self, x: Any, out: Any = None) -> Any:
            y = self._ahead.vector(x, out)
            return self._checked("matvec", x, out) if y is None else y

        def rmatvec(self, x: Any, out: Any = None) -> Any:
            y = self._behind.vector(x, out)
            return self._checked("rmatvec", x, out) if y is None else y

        def matmat(self, X: Any, out: Any = None) -> Any:
            Y = self._ahead.matrix(X, out)
            return self._checked("matmat", X, out) if Y is None else Y

        def rmatmat(self, X: Any, out: Any = None) -> Any:
            Y = self._behind.matrix(X, out)
            return self._checked("rmatmat", X, out) if Y is None else Y

        dot, __mul__, __matmul__, __call__ = map(_bypassing, ("dot", "__mul__", "__matmul__", "__call__"))

        def _checked(self, method: str, x: Any, out: Any) -> Any:
            if out is None:
                return getattr(super(), method)(x)
            getattr(Checked(self._ahead, self._behind, out), method)(x)
            return out

        def _transpose(self) -> Any:
            return Operator(self._behind, self._ahead)

        _adjoint = _transpose  # values are real

        def __reduce__(self) -> tuple[Any, ...]:
            return _again, (self.bundle, self._ahead.sides.options, self._ahead.transposed)

    return Operator


def _bypassing(name: str) -> Callable[[Any, Any], Any]:
    """Returns a product method of SciPy's class that tries the recent plans first."""
    from scipy.sparse.linalg import LinearOperator  # type: ignore[import-untyped, import-not-found, unused-ignore]

    checked = getattr(LinearOperator, name)

    @wraps(checked)
    def method(self: Any, x: Any) -> Any:
        y = self._ahead.multiply(x)
        return checked(self, x) if y is None else y

    return method


def _again(bundle: Bundle, options: PlanSettings, transposed: bool) -> Any:
    sides = _Sides(bundle, options)
    return _operator_class()(_Side(sides, transposed), _Side(sides, not transposed))


def operator_of(bundle: Bundle, options: PlanSettings) -> Any:
    """A LinearOperator of a matrix; see `sptile.aslinearoperator`."""
    device = options.get("device") or bundle.device
    if device != "cpu":
        raise UsageError(f"aslinearoperator requires device 'cpu', got {device!r}")
    return _again(bundle, options, bool(options.get("transpose")))
