"""Products of any matrix: plans, single products, linear operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _arrays
from . import _library as c
from ._options import PlanSettings, takes_plan_options
from ._plan import Plan
from .bundle import Bundle, bundle_of, dense_view

if TYPE_CHECKING:
    from typing_extensions import Unpack


@takes_plan_options()
def plan(A: Any, n: int, **options: Unpack[PlanSettings]) -> Plan:
    """Plans an operation for dense operands with at most `n` columns.

    Parameters
    ----------
    A : Bundle, path, sparse matrix or tensor
        See `Bundle.of`.
    n : int
        Maximum number of columns.
    **options
        Options of a plan.

    Returns
    -------
    Plan
        The plan, for any number of runs.

    Raises
    ------
    UsageError
        If an option is invalid, or a format is not stored.
    ArgumentTypeError
        If A is not a sparse matrix, or a keyword is unknown.
    UnsupportedError
        If this build or machine has no kernel for the request.
    DeviceError
        If the device is missing or out of memory.
    BadInputError
        If the arrays of A are not a valid matrix.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, sptile
    >>> A = scipy.sparse.random_array((100, 80), density=0.1, format="csr", rng=0)
    >>> plan = sptile.plan(A, 16)
    >>> B = np.ones((80, 16))
    >>> np.allclose(plan @ B, A @ B)
    True
    """
    dtype = options.get("dtype")
    wide = dtype is not None and _arrays.dtype_code(dtype) == c.DTYPE_F64
    return bundle_of(A, integers="float64" if wide else "float32").plan(n, **options)


def _plan_for(A: Any, B: Any, name: str, options: PlanSettings) -> Plan:
    """Plans for operands like B: of its type, on its device."""
    view = dense_view(B, name)
    n = view.shape[1] if len(view.shape) == 2 else 1
    settings: PlanSettings = {"dtype": _arrays.DTYPE_NAMES[view.dtype or 0], "device": view.device_name}
    settings.update(options)
    return plan(A, max(n, 1), **settings)


@takes_plan_options("op", "refreshable")
def spmm(A: Any, B: Any, **options: Unpack[PlanSettings]) -> Any:
    """Computes ``A @ B`` once. For repeated products, create a plan.

    Parameters
    ----------
    A : Bundle, path, sparse matrix or tensor
        See `Bundle.of`.
    B : array
        Dense operand of shape (cols, k), or a vector of shape (cols,).
    **options
        Options of a plan.

    Returns
    -------
    array
        Result of shape (rows, k) or (rows,), an array like B.

    Raises
    ------
    UsageError
        If an option is invalid, or B does not match A.
    UnsupportedError
        If this build or machine has no kernel for the request.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, sptile
    >>> A = scipy.sparse.csr_array(np.array([[1, 0], [2, 3]], np.float32))
    >>> sptile.spmm(A, np.ones((2, 1), np.float32))
    array([[1.],
           [5.]], dtype=float32)
    """
    return _plan_for(A, B, "B", options)(B)


@takes_plan_options("op", "refreshable")
def sddmm(A: Any, X: Any, Y: Any, *, scaled: bool = False, **options: Unpack[PlanSettings]) -> Any:
    """Computes ``X @ Y.T`` at the nonzeros of A once. For repeated products, create a plan.

    Parameters
    ----------
    A : Bundle, path, sparse matrix or tensor
        See `Bundle.of`.
    X, Y : array
        Dense operands of shape (rows, k) and (cols, k).
    scaled : bool, optional
        Multiply each result by the value of its nonzero.
    **options
        Options of a plan.

    Returns
    -------
    array
        One value per nonzero, in the order of the nonzeros in A (``A.data``; see `Bundle.of`).

    Raises
    ------
    UsageError
        If an option is invalid, or X or Y does not match A.
    UnsupportedError
        If this build or machine has no kernel for the request.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, sptile
    >>> A = scipy.sparse.csr_array(np.array([[1, 0], [2, 3]], np.float32))
    >>> X = np.ones((2, 4), np.float32)
    >>> sptile.sddmm(A, X, X)
    array([4., 4., 4.], dtype=float32)
    """
    return _plan_for(A, X, "X", {**options, "op": "sddmm"}).sddmm(X, Y, scaled=scaled)


@takes_plan_options("op")
def aslinearoperator(A: Any, **options: Unpack[PlanSettings]) -> Any:
    """Returns A as a linear operator for the solvers of SciPy.

    Parameters
    ----------
    A : Bundle, path, sparse matrix or tensor
        See `Bundle.of`.
    **options
        Options of a plan.

    Returns
    -------
    scipy.sparse.linalg.LinearOperator
        Operator whose `matvec`, `matmat`, `rmatvec` and `rmatmat` have an optional argument `out`. Its attribute
        `bundle` is the bundle of A, and `plans` is a dict of the plans in the type of the values, by width.

    Raises
    ------
    UsageError
        If an option is invalid, or the device is not the CPU.

    Notes
    -----
    The operator plans each width at first use. Results have the type that SciPy gives them: the common type of values
    and operand. Operands of the type of the values (float32 for a pattern) are multiplied directly, float64 and
    integer operands in float64 with converted values, complex operands by their real and imaginary parts.

    `out` must have the shape and type of the result and must not overlap the operand. A real product with `out` allocates
    nothing if the operand is C-contiguous and has the type of the result.

    Several threads may use one operator. It can be copied and pickled.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, scipy.sparse.linalg, sptile
    >>> A = scipy.sparse.diags_array([2.0, 4.0, 8.0], format="csr")
    >>> x, info = scipy.sparse.linalg.cg(sptile.aslinearoperator(A), np.ones(3))
    >>> x
    array([0.5  , 0.25 , 0.125])
    """
    from ._linear import operator_of

    return operator_of(Bundle.of(A), options)
