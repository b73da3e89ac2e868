"""Products of a matrix and of its transpose with dense blocks, with or without the mean of each column subtracted."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from .. import _arrays
from .. import _library as c
from .._options import PlanSettings, device_of
from .._plan import Plan
from ..bundle import Bundle, _csr_memory, fitting
from ..errors import BadInputError, UnsupportedError, UsageError
from ._dense import Dense

_PARTS = 32
_PANEL_BYTES = 2**18
"""Bytes of the operand of a transposed product that are multiplied at once, so that they stay in the L2 cache of a core:
the product gathers rows of its operand, and adds to a result of few rows."""
_LEAST_PER_COLUMN = 32
"""Nonzeros of a panel per column of the matrix: reading and writing the result takes less time than these."""
_CHUNK = 2**20  # values whose squares are added at once


def framework_of(A: Any, device: int) -> _arrays.Framework:
    """Returns the framework of results: that of A, or else one that has arrays on the device."""
    torch = sys.modules.get("torch")
    if device == c.DEVICE_CPU:
        return _arrays.TORCH_CPU if torch is not None and isinstance(A, torch.Tensor) else _arrays.NUMPY
    if type(A).__module__.startswith("cupyx.") or (torch is None and "cupy" in sys.modules):
        return _arrays.CUPY
    if torch is None:
        raise UsageError("device='cuda' requires torch or CuPy, whose arrays hold the results; import one of them first")
    return _arrays.TORCH_CUDA


def _row_panels(shape: tuple[int, int], nnz: int, row_bytes: int) -> list[slice]:
    """Returns ranges of rows for transposed products on a CPU."""
    rows, cols = shape
    step = max(_PANEL_BYTES // row_bytes, rows * cols * _LEAST_PER_COLUMN // max(nnz, 1), 1)
    return [slice(start, min(start + step, rows)) for start in range(0, max(rows, 1), step)]


def _rows_of(rows: slice, cols: int, indptr: Any, indices: Any, values: Any, dtype: int) -> Bundle:
    """Returns a range of rows of a CSR matrix, whose arrays it borrows."""
    entries = slice(indptr[rows.start], indptr[rows.stop])
    pointers = np.ascontiguousarray(indptr[rows.start : rows.stop + 1] - entries.start, np.int64)
    memory = _csr_memory(
        rows.stop - rows.start, cols, pointers, indices[entries], values[entries], dtype, "rows of A", None
    )
    return Bundle._create(memory, memory.name)


class _Planned(NamedTuple):
    """A matrix, or some of its rows, and its plans."""

    bundle: Bundle
    rows: slice
    """Rows of the matrix."""
    plans: dict[int, Plan]
    options: PlanSettings

    def plan(self, n: int) -> Plan:
        """Returns a plan of a width, which is kept."""
        found = fitting(self.plans, n)
        if found is None:
            found = self.plans[n] = self.bundle.plan(n, **self.options)
        return found


class Products:
    """A matrix of float32 or float64 as two functions."""

    def __init__(self, A: Any, bundle: Bundle, dtype: int, device: str, threads: int, width: int) -> None:
        """`width`: columns of most operands."""
        kind, ordinal = device_of(device)
        self.bundle, self.shape = bundle, bundle.shape
        self.dense = Dense(framework_of(A, kind), dtype, kind, ordinal)
        self.mean: Any = None
        """Column of the means of all columns, [cols, 1]. None: they are not subtracted."""
        own = _arrays.DTYPE_NAMES[dtype]
        options: PlanSettings = {"dtype": own, "device": device, "threads": threads}
        everything, panels = slice(0, self.shape[0]), [(slice(0, self.shape[0]), bundle)]
        if kind == c.DEVICE_CUDA:
            if bundle.dtype is not None and bundle.dtype.name != own:
                raise UnsupportedError(f"{bundle.dtype} values with dtype {own} on a CUDA device; convert A")
            # TF32 would limit the accuracy of all results.
            options["precision"] = "fp32" if dtype == c.DTYPE_F32 else "fp64"
        else:
            indptr, indices, values = bundle.csr()
            numbers = np.ones(bundle.nnz, own) if values is None else values.astype(own, copy=False)
            if bundle.dtype != own:
                bundle = _rows_of(everything, self.shape[1], indptr, indices, numbers, dtype)
            panels = [
                (rows, _rows_of(rows, self.shape[1], indptr, indices, numbers, dtype))
                for rows in _row_panels(self.shape, bundle.nnz, width * numbers.itemsize)
            ]
        self._ahead = _Planned(bundle, everything, {}, options)
        self._behind = [_Planned(part, rows, {}, {**options, "transpose": True}) for rows, part in panels]

    def forward(self, X: Any, out: Any) -> None:
        """Computes ``out = A @ X`` or, with a mean, ``(A - 1 mean.T) @ X``."""
        self._ahead.plan(X.shape[1])(X, out)
        if self.mean is not None:
            row = self.dense.put(self.dense.inner(self.mean, X))
            for panel in self.dense.panels(out.shape[0]):
                out[panel] -= row

    def adjoint(self, Y: Any, out: Any) -> None:
        """Computes ``out = A.T @ Y`` or, with a mean, ``(A - 1 mean.T).T @ Y``."""
        for number, part in enumerate(self._behind):
            part.plan(Y.shape[1])(Y[part.rows], out, beta=float(number > 0))
        if self.mean is not None:
            self.dense.subtract(out, self.mean, self.dense.sums(Y))

    def centre(self) -> None:
        """Subtracts the mean of each column from now on.

        A product with the indicators of several parts of the rows adds up each part, float64 the parts: the error of a
        sum in float32 would grow with the number of rows.
        """
        rows, cols = self.shape
        width = min(_PARTS, rows)
        parts = self.dense.empty(rows, width)
        parts[:] = 0
        for part in range(width):
            parts[part * rows // width : (part + 1) * rows // width, part] = 1
        sums = self.dense.empty(cols, width)
        self.adjoint(parts, sums)
        means = self.dense.host(sums).sum(1, keepdims=True) / rows
        if not np.isfinite(means).all():
            raise self.not_finite()
        self.mean = self.dense.put(means)

    def sum_of_squares(self) -> float:
        """Returns the sum of the squares of all entries of the matrix, in float64."""
        values = self.bundle.csr().values
        if values is None:
            return float(self.bundle.nnz)
        if not isinstance(values, np.ndarray):
            library = sys.modules[self.dense.framework.name]
            values = library.as_tensor(values) if self.dense.framework.name == "torch" else library.asarray(values)
            return float(self.dense.inner(values[:, None], values[:, None])[0, 0])
        starts = range(0, len(values), _CHUNK)
        return float(sum(np.square(values[i : i + _CHUNK], dtype=np.float64).sum() for i in starts))

    def not_finite(self) -> BadInputError:
        """Returns the error for products that are not finite."""
        if self.bundle.device == "cpu":
            indptr, indices, values = self.bundle.csr()
            bad = np.empty(0, np.int64) if values is None else np.flatnonzero(~np.isfinite(values))
            if len(bad):
                row = int(np.searchsorted(indptr, bad[0], side="right")) - 1
                return BadInputError(
                    f"A has {len(bad)} values that are NaN or infinite, the first, {values[bad[0]]}, in row {row}, column "
                    f"{indices[bad[0]]}; replace them"
                )
        return BadInputError("products with A are NaN or infinite; replace such values of A, or scale A or use dtype='f64'")
