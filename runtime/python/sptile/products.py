"""Products without a plan of one's own: for trying, and for solvers."""

from __future__ import annotations

from typing import Any

from . import _arrays
from ._plan import Plan
from .bundle import Bundle
from .errors import UsageError


def plan(A: Any, n: int, **options: Any) -> Plan:
    """Plans an operation with a matrix of any kind that `Bundle.of` takes; options as of `Bundle.plan`."""
    return Bundle.of(A).plan(n, **options)


def _plan_for(A: Any, B: Any, name: str, options: dict[str, Any]) -> Plan:
    """A plan for operands like B: of its type, on its device."""
    view = _arrays.view(B, name)
    if view.dtype is None or view.dtype not in _arrays.DTYPE_NAMES:
        raise UsageError(f"{name} is {view.dtype_name}; use {', '.join(_arrays.DTYPE_CODES)}")
    if len(view.shape) not in (1, 2):
        raise UsageError(f"{name} has {len(view.shape)} dimensions; it has one or two")
    n = view.shape[1] if len(view.shape) == 2 else 1
    settings = {"dtype": _arrays.DTYPE_NAMES[view.dtype], "device": view.device_name, **options}
    return plan(A, max(n, 1), **settings)


def spmm(A: Any, B: Any, **options: Any) -> Any:
    """A B, planned and run once: A is rows x cols, B cols x k or a vector of cols numbers; the result is an
    array like B. Options as of `Bundle.plan`; for more than one product make a plan."""
    return _plan_for(A, B, "B", options)(B)


def sddmm(A: Any, X: Any, Y: Any, *, scaled: bool = False, **options: Any) -> Any:
    """X Y^T at the entries of A, planned and run once: X is rows x k, Y cols x k; the result is one number
    for each entry, in the order of the CSR arrays of A. scaled: times the value of each entry, too."""
    return _plan_for(A, X, "X", {"op": "sddmm", **options}).sddmm(X, Y, scaled=scaled)


class _Products:
    """Plans of one side of a matrix, kept by width."""

    def __init__(self, bundle: Bundle, options: dict[str, Any]) -> None:
        self.bundle = bundle
        self.options = options
        self.plans: dict[int, Plan] = {}

    def __call__(self, B: Any) -> Any:
        n = B.shape[1] if B.ndim == 2 else 1
        return self.plan_for(max(n, 1))(B)

    def plan_for(self, n: int) -> Plan:
        """The narrowest plan that serves n columns well."""
        fitting = [p for p in self.plans.values() if p.least_n <= n <= p.n]
        if not fitting:
            self.plans[n] = self.bundle.plan(n, **self.options)
            return self.plans[n]
        return min(fitting, key=lambda p: p.n)


def _transposable(bundle: Bundle) -> Bundle:
    """The same matrix where its transpose can be planned on the CPU: a bundle may have no formats of it."""
    from scipy.sparse import csr_array  # type: ignore[import-untyped, import-not-found, unused-ignore]

    if bundle.symmetric or bundle.device != "cpu":
        return bundle
    indptr, indices, values = bundle.csr()
    if values is None:
        return Bundle.of(bundle.tocsr())
    matrix = csr_array(bundle.shape, dtype=values.dtype)
    matrix.indptr, matrix.indices, matrix.data = indptr, indices, values
    return Bundle.of(matrix)


def aslinearoperator(A: Any, **options: Any) -> Any:
    """A scipy.sparse.linalg.LinearOperator of A, for solvers: matvec, matmat and those of the transpose
    (rmatvec, rmatmat) in the type of the values (float32 for a pattern), planned when first used and kept by
    width.

    Options as of `Bundle.plan`, for the CPU. The operator has `bundle`, and `plans`, a dict by width.
    Operands of another type are converted, as SciPy does.
    """
    import numpy as np
    from scipy.sparse.linalg import LinearOperator  # type: ignore[import-untyped, import-not-found, unused-ignore]

    bundle = Bundle.of(A)
    device = options.get("device") or bundle.device
    if device != "cpu":
        raise UsageError(f"the operator is of NumPy arrays, but the plan would be on {device}")
    dtype = _arrays.numpy_dtype(_arrays.dtype_code(options.get("dtype") or bundle.dtype or "float32"))
    forward = _Products(bundle, options)
    backward: list[_Products] = []

    def product(B: Any) -> Any:
        return forward(np.asarray(B, dtype))

    def transposed(B: Any) -> Any:
        if not backward:
            backward.append(
                _Products(_transposable(bundle), {**options, "transpose": not options.get("transpose")})
            )
        return backward[0](np.asarray(B, dtype))

    rows, cols = bundle.shape[::-1] if options.get("transpose") else bundle.shape
    operator = LinearOperator(
        (rows, cols), matvec=product, matmat=product, rmatvec=transposed, rmatmat=transposed, dtype=dtype
    )
    operator.bundle, operator.plans = bundle, forward.plans
    return operator
