"""Several matrices combined into one, which one run multiplies."""

from __future__ import annotations

import os
from collections.abc import Iterable
from ctypes import byref
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _library as c
from ._matrix import MatrixHandle
from ._order import Order, joined
from .bundle import Bundle, CsrMemory, csr_memory
from .errors import ArgumentTypeError, Error, UsageError


class Batch(Bundle):
    """A `Bundle` of several matrices, from `block_diag` or `vstack`.

    Attributes
    ----------
    row_offsets : array of int64
        First row of each matrix and the total number of rows, shape (matrices + 1,).
        ``numpy.split(C, batch.row_offsets[1:-1])`` returns the product of each matrix.
    col_offsets : array of int64 or None
        First column of each matrix. None for `vstack`, whose matrices share all columns.

    Examples
    --------
    >>> import scipy.sparse, sptile
    >>> A = scipy.sparse.eye_array(2, format="csr")
    >>> batch = sptile.block_diag([A, A, A])
    >>> batch.shape, batch.row_offsets
    ((6, 6), array([0, 2, 4, 6]))
    """

    row_offsets: npt.NDArray[np.int64]
    col_offsets: npt.NDArray[np.int64] | None

    @classmethod
    def _arrange(cls, memories: list[CsrMemory], arrangement: int) -> Batch:
        members = _Members(memories, arrangement)
        batch = cls.__new__(cls)
        batch._set(members, members.name, members.device)
        shapes = [(one.arrays.rows, one.arrays.cols) for one in memories]
        rows, cols = np.cumsum([(0, 0), *shapes], axis=0, dtype=np.int64).T.copy()
        batch.row_offsets = rows
        batch.col_offsets = cols if arrangement == c.ARRANGEMENT_BLOCK_DIAGONAL else None
        return batch


def block_diag(matrices: Iterable[Any], *, copy: bool = False) -> Batch:
    """Combines matrices into a block diagonal matrix. One product multiplies each matrix with its rows of B.

    Parameters
    ----------
    matrices : iterable
        Matrices as accepted by `Bundle.of`, on one device and with values of one type.
    copy : bool, optional
        Copy all arrays. By default they are borrowed and must not change while the batch is in use.

    Returns
    -------
    Batch
        The combined matrix.

    Raises
    ------
    UsageError
        If `matrices` is empty, or a matrix is invalid, on another device or of another type. The message names its
        position, starting at 0.
    BadInputError
        If the arrays of a matrix are not valid.
    UnsupportedError
        If the result has more than 2**31 - 1 rows or columns.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, sptile
    >>> A = scipy.sparse.eye_array(2, format="csr")
    >>> batch = sptile.block_diag([A, 2 * A])
    >>> C = batch @ np.ones(4)
    >>> np.split(C, batch.row_offsets[1:-1])
    [array([1., 1.]), array([2., 2.])]
    """
    return Batch._arrange(_memories(matrices, copy), c.ARRANGEMENT_BLOCK_DIAGONAL)


def vstack(matrices: Iterable[Any], *, copy: bool = False) -> Batch:
    """Stacks matrices vertically. One product multiplies each matrix with the same B.

    Parameters
    ----------
    matrices : iterable
        Matrices as accepted by `Bundle.of`, with the same number of columns, on one device and with values of one
        type.
    copy : bool, optional
        Copy all arrays. By default they are borrowed and must not change while the batch is in use.

    Returns
    -------
    Batch
        The combined matrix.

    Raises
    ------
    UsageError, BadInputError, UnsupportedError
        See `block_diag`. UsageError also if the numbers of columns differ.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, sptile
    >>> A = scipy.sparse.eye_array(2, format="csr")
    >>> sptile.vstack([A, 2 * A]) @ np.ones(2)
    array([1., 1., 2., 2.])
    """
    return Batch._arrange(_memories(matrices, copy), c.ARRANGEMENT_STACKED)


class _Members(NamedTuple):
    """The matrices of a batch."""

    memories: list[CsrMemory]
    arrangement: int
    is_file: bool = False
    kept: tuple[Any, ...] = ()

    @property
    def name(self) -> str:
        return f"{len(self.memories)} matrices"

    @property
    def device(self) -> str:
        return self.memories[0].device if self.memories else "cpu"

    @property
    def given(self) -> int:
        return sum(one.given for one in self.memories)

    @property
    def order(self) -> Order | None:
        return joined([one.order for one in self.memories], [int(one.arrays.nnz) for one in self.memories])

    @property
    def unordered(self) -> str:
        return next((one.unordered for one in self.memories if one.unordered), "")

    def given_doubles(self) -> Any:
        return np.concatenate([one.given_doubles() for one in self.memories])

    def make(self, options: c.MatrixOptions, handle: MatrixHandle) -> None:
        parts = (c.Arrays * len(self.memories))(*[one.arrays for one in self.memories])
        for part in parts:
            if part.device == c.DEVICE_CUDA:
                part.disorder = c.DISORDER_SUM
        c.check(
            c.lib.sptile_matrix_create_batch(
                parts, len(parts), self.arrangement, byref(options), self._stream(), byref(handle)
            )
        )

    def _stream(self) -> int | None:
        """On which the arrays are ready."""
        streams = {one.stream for one in self.memories if one.stream is not None}
        if len(streams) > 1:
            raise UsageError("the matrices of a batch must be ready on one CUDA stream, got several")
        return streams.pop() if streams else None


def _memories(matrices: Iterable[Any], copy: bool) -> list[CsrMemory]:
    """Returns the arrays of each matrix; errors name the matrix."""
    if not isinstance(matrices, Iterable) or isinstance(matrices, (str, bytes)) or hasattr(matrices, "shape"):
        raise ArgumentTypeError(f"matrices must be a list of matrices, got {type(matrices).__name__}")
    memories = []
    for number, one in enumerate(matrices):
        try:
            known = isinstance(one, (Bundle, str, os.PathLike))
            memories.append(Bundle.of(one)._memory() if known else csr_memory(one, copy, True))
        except Error as error:
            raise type(error)(f"matrix {number} of the batch: {error}") from None
    return memories
