"""Dense algebra of tall matrices, the same for NumPy arrays, CuPy arrays and torch tensors.

Only ``@``, ``.T``, slices and updates in place run on the arrays. Matrices as small as a basis are NumPy arrays of
float64 in host memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _arrays
from .. import _library as c
from ..errors import InternalError

Small = npt.NDArray[np.float64]

_PANEL_ROWS = {c.DEVICE_CPU: 4096, c.DEVICE_CUDA: 2**18}
"""Rows of a panel. Sums over panels are in float64, so that their error does not grow with the number of rows. A panel
of a basis on a CPU fits in its L2 or L3 cache."""
_PASSES = 12
"""Passes of `orthonormalize`. Two suffice for a block of full rank, more for one of rounding errors."""


class NotFiniteError(Exception):
    """A product has NaN or infinite numbers."""


class Dense(NamedTuple):
    """New arrays of a framework, type and device, and their products."""

    framework: _arrays.Framework
    code: int
    device: int
    ordinal: int

    @property
    def eps(self) -> float:
        return float(np.finfo(_arrays.numpy_dtype(self.code)).eps)

    def empty(self, rows: int, cols: int) -> Any:
        return self.framework.empty((rows, cols), self.code, self.ordinal)

    def put(self, numbers: Any) -> Any:
        """Returns numbers of a NumPy array in the type of these arrays."""
        return self.framework.of_double(np.asarray(numbers, np.float64), self.code, self.ordinal)


    def host(self, array: Any) -> Small:
        """Returns an array as a NumPy array of float64."""
        numbers: Small = self.framework.double(array)
        return numbers

    def panels(self, rows: int) -> list[slice]:
        step = _PANEL_ROWS[self.device]
        return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]

    def inner(self, X: Any, Y: Any) -> Small:
        """Returns ``X.T @ Y``."""
        total = self.framework.put(np.zeros((X.shape[1], Y.shape[1])), self.ordinal)
        for panel in self.panels(X.shape[0]):
            total += X[panel].T @ Y[panel]
        return self.host(total)

    def sums(self, X: Any) -> Small:
        """Returns the sum of each column."""
        ones = self.put(np.ones((1, min(X.shape[0], _PANEL_ROWS[self.device]))))
        total = self.framework.put(np.zeros((1, X.shape[1])), self.ordinal)
        for panel in self.panels(X.shape[0]):
            total += ones[:, : panel.stop - panel.start] @ X[panel]
        return self.host(total)

    def subtract(self, X: Any, Y: Any, small: Any) -> None:
        """Computes ``X -= Y @ small`` in place."""
        small = self.put(small)
        for panel in self.panels(X.shape[0]):
            X[panel] -= Y[panel] @ small

    def rotate(self, X: Any, small: Any, out: Any) -> None:
        """Computes ``out = X @ small``, where `out` may be the first columns of X."""
        small = self.put(small)
        for panel in self.panels(X.shape[0]):
            out[panel] = X[panel] @ small

    def disturb(self, X: Any, length: float, random: np.random.Generator) -> None:
        """Adds independent normal numbers, columns of about the given length."""
        scale = length / np.sqrt(max(X.shape[0], 1))
        for panel in self.panels(X.shape[0]):
            X[panel] += self.put(scale * random.standard_normal((panel.stop - panel.start, X.shape[1])))

    def random(self, X: Any, length: float, random: np.random.Generator) -> None:
        """Writes independent normal numbers, columns of about the given length."""
        X[:] = 0
        self.disturb(X, length, random)


def orthonormalize(
    dense: Dense, block: Any, basis: Any, random: np.random.Generator
) -> tuple[Small, Small]:
    """Makes the columns of a block orthonormal, and orthogonal to an orthonormal basis, in place.

    Returns C and R with ``block = basis @ C + new @ R``, up to rounding errors. Each pass projects and multiplies by an
    inverse root of the Gram matrix, whose small eigenvalues are raised (Stathopoulos and Wu, 2002). A block without full
    rank is disturbed by rounding errors first, so that the remaining directions are random.

    block: [rows, b]; basis: [rows, p], p + b <= rows; C: [p, b]; R: [b, b]. O(rows (p + b) b).
    """
    width, known = block.shape[1], basis.shape[1]
    C, R = np.zeros((known, width)), np.eye(width)
    for number in range(_PASSES):
        shift = np.zeros((known, width))
        if known:
            shift = dense.inner(basis, block)
            dense.subtract(block, basis, shift)
            C += shift @ R
        gram = dense.inner(block, block)
        if not np.isfinite(gram).all() or not np.isfinite(shift).all():
            raise NotFiniteError
        lengths = np.sqrt(np.maximum(np.diag(gram), 0))
        scale = float(np.sqrt((shift**2).sum(0) + lengths**2).max())
        if scale == 0:
            R[:] = 0
            dense.disturb(block, 1.0, random)
            continue
        least = 10 * width * dense.eps
        if number == 0 and lengths.min() <= least * scale:
            dense.disturb(block, dense.eps * scale, random)
            continue
        gram /= lengths[:, None] * lengths
        values, vectors = np.linalg.eigh((gram + gram.T) / 2)
        if number == 0 and values[0] <= least:
            dense.disturb(block, dense.eps * scale, random)
        roots = np.sqrt(np.maximum(values, least * values[-1]))
        dense.rotate(block, vectors / lengths[:, None] / roots, block)
        R = roots[:, None] * vectors.T @ (lengths[:, None] * R)
        tilted = np.abs(gram - np.eye(width)).max() + np.abs(lengths - 1).max() + np.abs(shift).max(initial=0)
        if tilted < 0.1:  # so that this pass left rounding errors alone
            return C, R
    raise InternalError("a block of vectors has no orthonormal basis")
