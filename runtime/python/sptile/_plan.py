"""A planned operation, to run many times without allocations."""

from __future__ import annotations

import copy as copying
from ctypes import byref
from typing import Any

import numpy as np

from . import _arrays
from . import _library as c
from ._given import run_as_given
from ._matrix import MatrixHandle
from ._operations import OPERATIONS, Operand
from ._options import ORDERS, PlanSettings, named
from ._sorted_plan import SortedPlan
from .errors import ArgumentTypeError, UsageError

# Defaults of `Plan.__call__`, which it recognizes by identity.
_ONE, _ZERO = 1.0, 0.0


class Plan(SortedPlan):
    """A planned operation with one matrix, from `Bundle.plan` or `sptile.plan`.

    A plan is immutable except for `refresh`. Any number of threads may run it concurrently, each with separate
    results. A plan is a context manager that calls `close`. A copy or an unpickled plan is planned again.

    Attributes
    ----------
    op, format, kernel, precision : str
        Operation, and the chosen storage format, kernel and precision.
    shape : tuple of int
        Rows and columns of the matrix that the plan multiplies.
    nnz : int
        Number of stored nonzeros.
    n : int
        Maximum number of columns of an operand.
    m : int
        Columns of the second operand of attention and update operations.
    heads : int
        Number of attention heads.
    dtype, result_dtype : str
        Types of operands and of results, for example "float32".
    values_dtype : str or None
        Type of the values in the format. None for a pattern.
    device : str
        "cpu" or, for example, "cuda:0".
    order : str
        Order of arrays with one value per nonzero, "csr" or "packed".
    transposed : bool
        True if the plan uses the transpose of the matrix.
    workspace_bytes : int
        Device memory that a run needs in addition to its operands.
    least_n : int
        For operands with fewer columns, a new plan may be faster.
    stored : bool
        True if the plan was stored in the bundle.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, sptile
    >>> A = scipy.sparse.eye_array(3, format="csr", dtype="float32")
    >>> plan = sptile.plan(A, 16)
    >>> plan.shape, plan.n, plan.format, plan.dtype
    ((3, 3), 16, 'csr', 'float32')
    >>> C = plan @ np.ones((3, 16), np.float32)
    >>> C.shape
    (3, 16)
    """

    __array_ufunc__ = None  # NumPy leaves `B @ plan` to this class, which does not support it

    def __init__(self) -> None:
        raise ArgumentTypeError("create plans with sptile.plan or Bundle.plan")

    @classmethod
    def _create(cls, matrix: MatrixHandle, n: int, settings: PlanSettings) -> Plan:
        plan = cls.__new__(cls)
        plan._set(matrix, n, settings)
        return plan

    def close(self) -> None:
        """Frees the plan after runs in other threads have finished.

        Further calls raise `UsageError`.

        Examples
        --------
        >>> import scipy.sparse, sptile
        >>> plan = sptile.plan(scipy.sparse.eye_array(3, format="csr", dtype="float32"), 16)
        >>> plan.close()
        """
        self._packed.handle = None

    def __enter__(self) -> Plan:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> tuple[Any, ...]:
        """A copy is planned anew, with the values that this one has."""
        if self._handle is None:
            raise TypeError("cannot copy or pickle a closed Plan")
        settings = self._settings.copy()
        settings.pop("stream", None)
        return self._handle.matrix, self.n, settings

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._set(*state)

    def __copy__(self) -> Plan:
        return copying.deepcopy(self)

    def __repr__(self) -> str:
        return (
            f"<sptile.Plan {self.op} {self.shape[0]}x{self.shape[1]} n={self.n} {self.dtype} "
            f"{self.kernel} {self.precision} on {self.device}>"
        )

    # ---- SpMM ----

    def __call__(
        self,
        B: Any,
        out: Any = None,
        *,
        alpha: float = _ONE,
        beta: float = _ZERO,
        stream: Any = None,
        workspace: Any = None,
    ) -> Any:
        """Computes ``alpha * A @ B + beta * out``. ``plan @ B`` is the same as ``plan(B)``.

        Parameters
        ----------
        B : array
            Dense operand of shape (cols, k) with ``k <= n``, or a vector of shape (cols,). It must have the dtype
            and the device of the plan. B is copied if its rows are not contiguous.
        out : array, optional
            Result of shape (rows, k) or (rows,), with contiguous rows. By default a new array like B.
        alpha, beta : float, optional
            Scale factors. ``beta != 0`` requires `out`.
        stream : stream, optional
            CUDA stream. By default the current stream of B's library.
        workspace : array, optional
            `workspace_bytes` bytes of zeroed device memory. Concurrent runs on several streams each need a separate
            workspace.

        Returns
        -------
        array
            `out`, or a new array like B.

        Raises
        ------
        UsageError
            If shapes, types, devices or strides do not match the plan, or if `out` overlaps B.

        Notes
        -----
        On a CUDA device the call returns before the product is complete. With `out` it allocates nothing, so a CUDA
        graph can capture it.

        Examples
        --------
        >>> import numpy as np, scipy.sparse, sptile
        >>> A = scipy.sparse.csr_array(np.array([[1, 0], [2, 3]], np.float32))
        >>> plan = sptile.plan(A, 2)
        >>> B = np.ones((2, 2), np.float32)
        >>> plan(B)
        array([[1., 1.],
               [5., 5.]], dtype=float32)
        >>> C = np.empty_like(B)
        >>> plan(B, C, alpha=2.0) is C
        True
        """
        if type(B) is np.ndarray and alpha is _ONE and beta is _ZERO and stream is None and workspace is None:
            C = self._multiply(B, out)
            if C is not None:
                return C
        framework, array, b_dtype, c_dtype, pair, current = self._fast
        if type(B) is array and B.dtype is b_dtype and workspace is None:
            width = self._packed.widths.get(B.shape)
            if width is not None:
                C = out
                if out is None and beta == 0:
                    C = framework.empty(width.result, self._result, self._ordinal)
                if type(C) is array and C.shape == width.result and C.dtype is c_dtype:
                    pointers = pair(B, C, self._ordinal)
                    if pointers is not None and (stream is None or self._kind == c.DEVICE_CUDA):
                        chosen: int | None = None
                        if stream is not None:
                            chosen = _arrays.stream_handle(stream)
                        elif current is not None:
                            chosen = current(self._ordinal)
                        if self._packed.run_pair(width, pointers, alpha, beta, chosen):
                            return C
        if self.op != "spmm":
            raise UsageError(f"the operation of the plan is {self.op}; use plan.run, or plan.sddmm for sddmm")
        if beta != 0 and out is None:
            raise UsageError(f"beta = {beta} requires out")
        return self._run((B, out), alpha=alpha, beta=beta, stream=stream, workspace=workspace)

    def __matmul__(self, B: Any) -> Any:
        C = self._multiply(B)
        return self(B) if C is None else C

    # ---- SDDMM ----

    def sddmm(
        self,
        X: Any,
        Y: Any,
        out: Any = None,
        *,
        alpha: float = 1.0,
        beta: float = 0.0,
        scaled: bool = False,
        stream: Any = None,
        workspace: Any = None,
    ) -> Any:
        """Computes ``alpha * (X @ Y.T)`` at the nonzeros of A, plus ``beta * out``.

        Parameters
        ----------
        X, Y : array
            Dense operands of shape (rows, k) and (cols, k) with ``k <= n``.
        out : array, optional
            Result of shape (nnz,), in the order of `Plan.order`. By default a new array like X.
        alpha, beta : float, optional
            Scale factors. ``beta != 0`` requires `out`.
        scaled : bool, optional
            Multiply each result by the value of its nonzero.
        stream, workspace : optional
            See `Plan.__call__`.

        Returns
        -------
        array
            One value per nonzero. Order "csr" is the order of the nonzeros in A, see `Bundle.of`.

        Raises
        ------
        UsageError
            If the operation of the plan is not "sddmm", or an operand does not match the plan.

        Examples
        --------
        >>> import numpy as np, scipy.sparse, sptile
        >>> A = scipy.sparse.csr_array(np.array([[1, 0], [2, 3]], np.float32))
        >>> plan = sptile.plan(A, 4, op="sddmm")
        >>> X = np.ones((2, 4), np.float32)
        >>> plan.sddmm(X, X, scaled=True)
        array([ 4.,  8., 12.], dtype=float32)
        """
        if self.op != "sddmm":
            raise UsageError(f"the operation of the plan is {self.op}; create a plan with op='sddmm'")
        if beta != 0 and out is None:
            raise UsageError(f"beta = {beta} requires out")
        return self._run(
            (X, Y, out), alpha=alpha, beta=beta, scaled=scaled, stream=stream, workspace=workspace
        )

    # ---- Any operation ----

    def run(
        self,
        *operands: Any,
        alpha: float = 1.0,
        beta: float = 0.0,
        scaled: bool = False,
        slope: float = 0.2,
        values: Any = None,
        stream: Any = None,
        workspace: Any = None,
    ) -> Any:
        """Runs the operation of the plan.

        Parameters
        ----------
        *operands : array or None
            Operands in the order of the operation, results last; see the guide to graph layers. None omits an
            optional operand. A required result that is None is allocated, an optional one is not computed.
            If ``heads > 1``, operands that heads do not share have the shape (heads, rows, columns). Strides between
            heads and rows are arbitrary.
        alpha, beta : float, optional
            Scale factors. ``beta != 0`` requires the results.
        scaled : bool, optional
            Multiply results of "sddmm" by the values of the nonzeros.
        slope : float, optional
            Negative slope of leaky ReLU in the score "additive".
        values : array, optional
            Values of the nonzeros for this run, of shape (nnz,) or (heads, nnz), in the storage order of the format.
            With the format "csr" and order "csr" they are in the order of the nonzeros in A.
        stream, workspace : optional
            See `Plan.__call__`.

        Returns
        -------
        array or tuple of array
            The results that were computed.

        Raises
        ------
        UsageError
            If an operand is missing or does not match the plan.

        Notes
        -----
        Arrays with one value per nonzero are in the order of the nonzeros in A, see `Bundle.of`. Duplicates each have
        a score and a weight. With ``transpose=True`` these arrays are in the CSR order of the transpose.

        Examples
        --------
        >>> import numpy as np, scipy.sparse, sptile
        >>> A = scipy.sparse.csr_array(np.array([[1, 1], [0, 1]], np.float32))
        >>> plan = sptile.plan(A, 1, op="softmax_rows")
        >>> plan.run(np.zeros(3, np.float32))
        array([0.5, 0.5, 1. ], dtype=float32)
        """
        if beta != 0 and any(
            spec.result and (i >= len(operands) or operands[i] is None)
            for i, spec in enumerate(OPERATIONS[self.op])
            if not spec.optional
        ):
            raise UsageError(f"beta = {beta} requires the results as operands")
        return self._run(
            operands,
            alpha=alpha,
            beta=beta,
            scaled=scaled,
            slope=slope,
            values=values,
            stream=stream,
            workspace=workspace,
        )

    def _run(self, given: tuple[Any, ...], **numbers: Any) -> Any:
        """Runs with lists in the order in which the entries of the matrix were given."""
        matrix = self._open_handle().matrix
        if self.order == "csr" and matrix.source.unordered:
            self._refuse_lists(matrix.source.unordered, given, numbers.get("values"))
        if self.order == "packed" or matrix.order is None:
            return self._run_sorted(given, **numbers)
        numbers.setdefault("scaled", False)
        return run_as_given(self, matrix.order, given, **numbers)

    def _refuse_lists(self, kind: str, given: tuple[Any, ...], values: Any) -> None:
        """Refuses lists with a number for each entry of a matrix whose entries have no order."""
        specs = OPERATIONS[self.op]
        used = [i < len(given) and given[i] is not None for i in range(len(specs))]
        for spec, is_used in zip(specs, used, strict=True):
            if spec.extent == "entries" and (is_used or not spec.optional):
                raise UsageError(f"{self.op}: {_no_order(kind)}")
        if values is not None and self.format == "csr":
            raise UsageError(f"{self.op}: {_no_order(kind)}")

    # ---- New values ----

    def refresh(self, values: Any, *, order: str = "csr", stream: Any = None) -> None:
        """Replaces the values of the matrix in all plans of the bundle that have ``refreshable=True``.

        No plan of the bundle may run during the call.

        Parameters
        ----------
        values : array
            One value of type `values_dtype` per nonzero, in host memory or on the device of the plan. Values of
            duplicates are added in float64.
        order : str, optional
            "csr": order of the nonzeros in A, see `Bundle.of`. "packed": storage order of this plan's format, as
            `sddmm` writes it.
        stream : stream, optional
            CUDA stream that copies values in device memory.

        Raises
        ------
        UsageError
            If the plan is not refreshable, or the values do not match the matrix.

        Examples
        --------
        >>> import numpy as np, scipy.sparse, sptile
        >>> A = scipy.sparse.csr_array(np.array([[1, 0], [2, 3]], np.float32))
        >>> plan = sptile.plan(A, 1, refreshable=True)
        >>> plan.refresh(np.array([10, 20, 30], np.float32))
        >>> plan(np.ones(2, np.float32))
        array([10., 50.], dtype=float32)
        """
        handle = self._open_handle()
        matrix = handle.matrix
        in_order = named(order, ORDERS, "order")
        view = _arrays.view(values, "values")
        count = self.nnz if in_order == c.ORDER_PACKED else matrix.source_count
        if view.shape != (count,):
            raise UsageError(f"values must have shape {(count,)}, one value per nonzero, got {view.shape}")
        if view.device == c.DEVICE_CUDA and (self._kind, self._ordinal) != (view.device, view.ordinal):
            raise UsageError(f"values must be in host memory or on {self.device}, got {view.device_name}")
        self._check_values_type(view)
        doubles = None
        if in_order == c.ORDER_CSR and matrix.source.unordered:
            raise UsageError(f"refresh: {_no_order(matrix.source.unordered)}")
        if in_order == c.ORDER_CSR and matrix.order is not None and matrix.source.device == "cpu":
            if view.device == c.DEVICE_CUDA and stream is not None:
                raise UsageError(
                    "stream requires nonzeros in CSR order; sort A first, or pass values in host memory"
                )
            if matrix.order.repeated:
                doubles = view.framework.double(view.owner)
                sums = matrix.order.total(doubles)
                view = _arrays.view(view.framework.of_double(sums, self._values, view.ordinal), "values")
            else:
                view = _arrays.view(matrix.order.indexed("position", view), "values")
            count = self.nnz
        if view.strides is None or not view.aligned or (count > 1 and view.strides[0] != 1):
            view = self._copy(view, Operand("values", "entries"), stream)
        on_stream = self._stream(stream, view, [view]) if view.device == c.DEVICE_CUDA else None
        fresh = c.Values(data=view.pointer, count=count, value_dtype=view.dtype)
        if in_order == c.ORDER_PACKED:
            fresh.order = handle.value
        c.check(c.lib.sptile_matrix_refresh(matrix, byref(fresh), on_stream))
        matrix.refreshed = (self.format, self._values)
        matrix.given_values = False if doubles is None else doubles


def _no_order(kind: str) -> str:
    return f"the order of the nonzeros of a {kind} is undefined; pass A.tocsr()"
