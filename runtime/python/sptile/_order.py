"""The order in which entries were given: lists with one number for each entry, to and from the CSR arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._memory import check_memory
from .errors import InternalError

if TYPE_CHECKING:
    from ._arrays import View

Positions = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]


class Order:
    """Maps given entries to the CSR arrays, which are sorted and have repeated entries added up.

    position: int64 [given], given entries in the order of the CSR arrays. first: int64 [nnz + 1], where those
    of each entry begin in it; None: there is one of each. Lists end with the dimension of entries.
    """

    def __init__(self, position: Positions, first: Positions | None) -> None:
        self.position, self.first = position, first
        self._indices: dict[tuple[Any, ...], Any] = {}

    @property
    def given(self) -> int:
        return len(self.position)

    @property
    def repeated(self) -> bool:
        return self.first is not None

    def _starts(self) -> Positions:
        """`first`, of an order that repeats entries."""
        if self.first is None:
            raise InternalError("the order repeats no entry")
        return self.first

    def counts(self) -> Positions:
        """Returns the number of given entries per CSR entry. Requires repeated entries."""
        return np.diff(self._starts())

    @cached_property
    def place(self) -> Positions:
        """Index of the CSR entry of each given entry, which expands lists of entries to lists of given entries."""
        place = np.empty_like(self.position)
        place[self.position] = np.arange(self.given) if self.first is None else self._entries()
        return place

    def indexed(self, name: str, view: View) -> Any:
        """An array, row-major, whose last dimension is indexed with `position` or `place`."""
        key = (name, view.framework.name, view.device, view.ordinal)
        if key not in self._indices:
            self._indices[key] = view.framework.put(getattr(self, name), view.ordinal)
        found = view.owner[..., self._indices[key]]
        return found if len(view.shape) == 1 else view.framework.contiguous(found)

    def _entries(self) -> Positions:
        counts = self.counts()
        return np.repeat(np.arange(len(counts)), counts)

    def total(self, values: Doubles) -> Doubles:
        """Sums of the numbers of each entry, in double, in the order in which they were given."""
        if self.first is None:
            return values[..., self.position]
        # reduceat adds pieces pairwise, whose error is below that of sums in order.
        return np.add.reduceat(values[..., self.position], self.first[:-1], axis=-1)

    def log_total(self, scores: Doubles) -> tuple[Doubles, Doubles]:
        """Returns, per entry, the logarithm of the sum of exponentials, and each given entry's share of its sum."""
        starts, entry = self._starts()[:-1], self._entries()
        scores = scores[..., self.position]
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            largest = np.maximum.reduceat(scores, starts, axis=-1)
            largest = np.where(np.isinf(largest), 0, largest)
            weights = np.exp(scores - largest[..., entry])
            total = np.add.reduceat(weights, starts, axis=-1)
            # Fully masked entries share the zero sum equally.
            parts = np.where(total[..., entry] == 0, 1 / self.counts()[entry], weights / total[..., entry])
            logarithms = largest + np.log(total)
        shares = np.empty_like(parts)
        shares[..., self.position] = parts
        return logarithms, shares


def sorted_entries(
    row: Any, col: Any, rows: int, cols: int
) -> tuple[Positions, npt.NDArray[np.int32], Order | None]:
    """Returns row pointers and columns of entries in any order, with ids in range, and their order; None if they
    ascend strictly. O(entries + rows + cols) if SciPy is imported, which counts. Raises IoError if the row pointers
    do not fit in memory."""
    check_memory(f"the row pointers of {rows} rows", 16 * (rows + 1))  # and the counts that they are sums of
    row, col = row.astype(np.int32, copy=False), col.astype(np.int32, copy=False)
    order: Any = None
    if not _ascends(row, col):
        if (col[1:] >= col[:-1]).all():
            order = _sorted_by(row, rows)
        else:
            order = _sorted_by(col, cols)
            order = order[_sorted_by(row[order], rows)]
        row, col = row[order], col[order]
    first = None
    if order is not None:
        begins = np.ones(len(col), bool)
        begins[1:] = (row[1:] != row[:-1]) | (col[1:] != col[:-1])
        if not begins.all():
            starts = np.flatnonzero(begins)
            first = np.append(starts, len(col)).astype(np.int64)
            row, col = row[starts], col[starts]
    indptr = np.zeros(rows + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=rows), out=indptr[1:])
    found = None if order is None else Order(order.astype(np.int64, copy=False), first)
    return indptr, np.ascontiguousarray(col), found


def _ascends(row: Any, col: Any) -> bool:
    fits = row[1:] > row[:-1]
    return bool(fits.all()) or bool((fits | ((row[1:] == row[:-1]) & (col[1:] > col[:-1]))).all())


def _sorted_by(keys: Any, size: int) -> Any:
    """Positions that sort keys of 0 to size - 1; equal ones keep their order."""
    scipy = sys.modules.get("scipy.sparse")
    if scipy is None or size > 16 * len(keys):  # which counts in memory for all of `size`
        return np.argsort(keys, kind="stable")
    count = len(keys)
    ones = np.arange(count + 1, dtype=np.int32 if count < 2**31 else np.int64)
    keys = keys.astype(ones.dtype, copy=False)
    return scipy.csr_array((np.empty(count, np.int8), keys, ones), shape=(count, size)).tocsc().indices


def joined(orders: list[Order | None], counts: list[int]) -> Order | None:
    """The order of concatenated matrices. counts: entries of each CSR matrix."""
    if not any(orders):
        return None
    positions, firsts, given = [], [np.zeros(1, np.int64)], 0
    for order, count in zip(orders, counts, strict=True):
        positions.append(given + (np.arange(count) if order is None else order.position))
        first = np.arange(count + 1) if order is None or order.first is None else order.first
        firsts.append(given + first[1:])
        given += len(positions[-1])
    repeated = any(order is not None and order.repeated for order in orders)
    return Order(np.concatenate(positions), np.concatenate(firsts) if repeated else None)


class DeviceOrder(Order):
    """The same of a matrix in device memory: its lists are fetched when they are first needed."""

    def __init__(self, given: int, fetch: Callable[[], tuple[Positions, Positions | None]], repeated: bool) -> None:
        self._given, self._fetch, self._repeated = given, fetch, repeated
        self._indices = {}

    def __getattr__(self, name: str) -> Any:
        if name not in ("position", "first"):
            raise AttributeError(name)
        self.position, self.first = self._fetch()
        return getattr(self, name)

    @property
    def given(self) -> int:
        return self._given

    @property
    def repeated(self) -> bool:
        return self._repeated
