"""Synthetic matrices as callers give them: any order of entries, repeated entries, any type, empty ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

# Relative error that sums of products of each type may have.
TOLERANCE = {"float64": 1e-12, "float32": 1e-5, "float16": 4e-3, "bfloat16": 3e-2}


class Given(NamedTuple):
    """Entries in the order in which a caller gives them.

    row, col  int64 [entries]
    values    float64 [entries], multiples of 1/16 that every type holds exactly; of a pattern ones
    dtype     type in which the values are given, None for a pattern
    """

    name: str
    shape: tuple[int, int]
    row: npt.NDArray[np.int64]
    col: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    dtype: str | None

    @property
    def is_sorted(self) -> bool:
        """Whether entries are row by row, in ascending columns, each place once."""
        return bool((np.diff(self.row * max(self.shape[1], 1) + self.col) > 0).all())

    def dense(self) -> npt.NDArray[np.float64]:
        """The matrix with its zeros; repeated entries are summed."""
        full = np.zeros(self.shape)
        np.add.at(full, (self.row, self.col), self.values)
        return full

    def laid(self, layout: str) -> Given:
        """The entries as a layout has them: "csr" row by row, "csc" column by column, "coo" as they are."""
        if layout == "coo":
            return self
        order = np.argsort(self.row if layout == "csr" else self.col, kind="stable")
        return self._replace(row=self.row[order], col=self.col[order], values=self.values[order])

    def with_values(self, values: npt.NDArray[np.float64]) -> Given:
        return self._replace(values=values)


def numbers(shape: int | tuple[int, ...], seed: int) -> npt.NDArray[np.float64]:
    """Multiples of 1/16 from -1 to 1, without 0."""
    rng = np.random.default_rng(seed)
    found = rng.integers(1, 17, shape) / 16
    return np.where(rng.random(shape) < 0.5, -found, found)


def _entries(shape: tuple[int, int], count: int, seed: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Distinct places, row by row in ascending order; one row has an entry in each column, some have none."""
    rows, cols = shape
    if rows * cols == 0 or count == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    rng = np.random.default_rng(seed)
    places = rng.choice(rows * cols, min(count, rows * cols), replace=False)
    row, col = np.divmod(places, cols)
    kept = row % 5 != 3
    hub = np.full(cols, rows // 2)
    row, col = np.concatenate([row[kept], hub]), np.concatenate([col[kept], np.arange(cols)])
    return tuple(part.astype(np.int64) for part in np.divmod(np.unique(row * cols + col), cols))  # type: ignore[return-value]


_SHAPES = {
    "0x0": ((0, 0), 0),
    "0x4": ((0, 4), 0),
    "4x0": ((4, 0), 0),
    "1x1": ((1, 1), 1),
    "no entries": ((6, 7), 0),
    "tall": ((23, 9), 60),
    "wide": ((9, 23), 60),
    "square": ((30, 30), 140),
}
_ORDERS = ("sorted", "shuffled", "repeated")
_DTYPES = ("float32", "float64", "float16", "bfloat16", None)


def _given(name: str, order: str, dtype: str | None) -> Given:
    shape, count = _SHAPES[name]
    row, col = _entries(shape, count, len(name))
    rng = np.random.default_rng(count + len(order))
    if order == "repeated" and len(row):
        again = rng.choice(len(row), len(row) // 2 + 2)  # some of them several times
        row, col = np.concatenate([row, row[again]]), np.concatenate([col, col[again]])
    if order != "sorted":
        shuffle = rng.permutation(len(row))
        row, col = row[shuffle], col[shuffle]
    values = np.ones(len(row)) if dtype is None else numbers(len(row), 7)
    return Given(f"{name}, {order}, {dtype or 'pattern'}", shape, row, col, values, dtype)


MATRICES = [
    _given(name, order, dtype)
    for name in _SHAPES
    for order in (_ORDERS if _SHAPES[name][1] > 1 else ("sorted",))
    for dtype in _DTYPES
]
