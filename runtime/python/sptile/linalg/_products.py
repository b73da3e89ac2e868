"""Products of a matrix and of its transpose with dense blocks, with or without the mean of each column subtracted."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .. import _arrays
from .. import _library as c
from .._linear import _Sides
from .._options import device_of
from .._plan import Plan
from ..bundle import Bundle, fitting
from ..errors import BadInputError, UnsupportedError, UsageError
from ._dense import Dense

_PARTS = 32
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


class Products:
    """A matrix of float32 or float64 as two functions."""

    def __init__(self, A: Any, bundle: Bundle, dtype: int, device: str, threads: int) -> None:
        kind, ordinal = device_of(device)
        self.bundle, self.shape = bundle, bundle.shape
        self.dense = Dense(framework_of(A, kind), dtype, kind, ordinal)
        self.mean: Any = None
        """Column of the means of all columns, [cols, 1]. None: they are not subtracted."""
        self._device, self._plans = device, ({}, {})
        self._sides = _Sides(bundle, {"threads": threads}) if kind == c.DEVICE_CPU else None
        if kind == c.DEVICE_CUDA and bundle.dtype is not None and bundle.dtype.itemsize == 2:
            raise UnsupportedError("16-bit values on CUDA devices; convert A to float32")

    def _plan(self, n: int, transposed: bool) -> Plan:
        """Returns a plan of a width, which is kept."""
        if self._sides is not None:
            sample = np.broadcast_to(np.float32(0), (1, n))
            dtype = _arrays.numpy_dtype(self.dense.code)
            return self._sides.of(dtype, transposed).plan_for(sample)
        plans: dict[int, Plan] = self._plans[transposed]
        plan = fitting(plans, n)
        if plan is None:
            # TF32 would limit the accuracy of all results.
            precision = "fp32" if self.dense.code == c.DTYPE_F32 else "fp64"
            plan = plans[n] = self.bundle.plan(
                n, dtype=_arrays.DTYPE_NAMES[self.dense.code], device=self._device, transpose=transposed, precision=precision
            )
        return plan

    def forward(self, X: Any, out: Any) -> None:
        """Computes ``out = A @ X`` or, with a mean, ``(A - 1 mean.T) @ X``."""
        self._plan(X.shape[1], False)(X, out)
        if self.mean is not None:
            row = self.dense.put(self.dense.inner(self.mean, X))
            for panel in self.dense.panels(out.shape[0]):
                out[panel] -= row

    def adjoint(self, Y: Any, out: Any) -> None:
        """Computes ``out = A.T @ Y`` or, with a mean, ``(A - 1 mean.T).T @ Y``."""
        self._plan(Y.shape[1], True)(Y, out)
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
            bad = np.flatnonzero(~np.isfinite(values)) if values is not None else []
            if len(bad):
                row = int(np.searchsorted(indptr, bad[0], side="right")) - 1
                return BadInputError(
                    f"A has {len(bad)} values that are NaN or infinite, the first, {values[bad[0]]}, in row {row}, column "
                    f"{indices[bad[0]]}; replace them"
                )
        return BadInputError("products with A are NaN or infinite; replace such values of A, or scale A or use dtype='f64'")
