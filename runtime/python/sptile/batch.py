"""Many small matrices as one, so that one run multiplies them all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from ctypes import byref
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _library as c
from ._order import Order, joined
from .bundle import Bundle, CsrMemory, MatrixHandle, csr_memory
from .errors import Error, UsageError


class Batch(Bundle):
    """The matrix that `block_diag` or `vstack` made of several: a `Bundle` as any other. Their arrays are
    borrowed: they must not change while the batch is used.

    Attributes beside those of a `Bundle`:
        row_offsets: int64 [matrices + 1], where the rows of each begin; the last number is that of all rows.
            `numpy.split(C, batch.row_offsets[1:-1])` is the product of each.
        col_offsets: the same of columns; None after `vstack`, where all have the same.
    """

    def __init__(self, memories: list[CsrMemory], arrangement: int) -> None:
        members = _Members(memories, arrangement)
        super().__init__(members, members.name, members.device)
        shapes = [(one.arrays.rows, one.arrays.cols) for one in memories]
        rows, cols = np.cumsum([(0, 0), *shapes], axis=0, dtype=np.int64).T.copy()
        self.row_offsets: npt.NDArray[np.int64] = rows
        self.col_offsets: npt.NDArray[np.int64] | None = cols if arrangement == c.BLOCK_DIAGONAL else None


def block_diag(matrices: Iterable[Any], *, copy: bool = False) -> Batch:
    """A matrix with these on its diagonal and no other entries, as scipy.sparse.block_diag makes: a product
    of it multiplies each with its own rows of B.

    matrices: one or more, each as of `Bundle.of`, all on one device, with values of one type. copy: nothing
    is borrowed, they may change afterwards. Errors name the matrix, counted from 0:

    UsageError: there is none, or one is no matrix, elsewhere, or of another type; BadInputError: its arrays
    are no CSR matrix; UnsupportedError: together they have more than 2**31 - 1 rows or columns.
    """
    return Batch(_memories(matrices, copy), c.BLOCK_DIAGONAL)


def vstack(matrices: Iterable[Any], *, copy: bool = False) -> Batch:
    """A matrix with these under one another, as scipy.sparse.vstack makes: a product of it multiplies all
    with the same B. They have the same number of columns, else UsageError; the rest as of `block_diag`."""
    return Batch(_memories(matrices, copy), c.STACKED)


class _Members(NamedTuple):
    """The matrices of a batch."""

    memories: list[CsrMemory]
    arrangement: int

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
            if part.device == c.CUDA:
                part.disorder = c.SUM
        c.check(
            c.lib.sptile_matrix_create_batch(
                parts, len(parts), self.arrangement, byref(options), self._stream(), byref(handle)
            )
        )

    def _stream(self) -> int | None:
        """On which the arrays are ready."""
        streams = {one.stream for one in self.memories if one.stream is not None}
        if len(streams) > 1:
            raise UsageError("the matrices of the batch are made on several streams; use one")
        return streams.pop() if streams else None


def _memories(matrices: Iterable[Any], copy: bool) -> list[CsrMemory]:
    """The arrays of each matrix; an error says of which."""
    if not isinstance(matrices, Iterable) or isinstance(matrices, (str, bytes)) or hasattr(matrices, "shape"):
        raise UsageError(f"matrices is a {type(matrices).__name__}; pass a list of matrices")
    memories = []
    for number, one in enumerate(matrices):
        try:
            known = isinstance(one, (Bundle, str, os.PathLike))
            memories.append(Bundle.of(one).memory() if known else csr_memory(one, copy, True))
        except Error as error:
            raise type(error)(f"matrix {number} of the batch: {error}") from None
    return memories
