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
    for each entry, in the order in which A has them (A.data; see `Bundle.of`). scaled: times the value of each
    entry, too."""
    return _plan_for(A, X, "X", {"op": "sddmm", **options}).sddmm(X, Y, scaled=scaled)


def aslinearoperator(A: Any, **options: Any) -> Any:
    """A scipy.sparse.linalg.LinearOperator of A, for solvers: matvec, matmat and those of the transpose
    (rmatvec, rmatmat), planned when first used and kept by width.

    Results have the type that SciPy gives them: that of values and operand together. An operand of the type of
    the values (float32 for a pattern) is multiplied as it is; float64 and integers in float64, with values
    that were made so; a complex one by its real and imaginary parts. UsageError: an operand of another type.

    Options as of `Bundle.plan`, for the CPU; they are those of the plans in the type of the values. The operator
    has `bundle`, and `plans` of that type, a dict by width. Any number of threads may use one; it can be copied
    and pickled.
    """
    from ._linear import operator_of

    return operator_of(Bundle.of(A), options)
