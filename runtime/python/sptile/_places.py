"""Memory layout of operands, as passed to the C interface, and which operands share memory."""

from __future__ import annotations

from typing import NamedTuple

from ._arrays import ITEMSIZE, View
from ._operations import Operand
from .errors import UsageError


class Place(NamedTuple):
    """Sizes and strides in elements: `batch` between heads, `ld` between rows."""

    heads: int
    rows: int
    columns: int
    batch: int
    ld: int

    @property
    def extent(self) -> int:
        """Number of elements from the first to the last, inclusive."""
        if 0 in (self.heads, self.rows, self.columns):
            return 0
        return (self.heads - 1) * self.batch + (self.rows - 1) * self.ld + self.columns


class Placed(NamedTuple):
    """An operand of a run."""

    spec: Operand
    view: View
    place: Place

    @property
    def size(self) -> int:
        return ITEMSIZE[self.view.dtype or 0]

    @property
    def end(self) -> int:
        return self.view.pointer + self.size * self.place.extent

    def overlaps(self, other: Placed) -> bool:
        """Returns whether operands share elements. Disjoint columns of one matrix do not."""
        if self.place.extent == 0 or other.place.extent == 0:
            return False
        if self.end <= other.view.pointer or other.end <= self.view.pointer:
            return False
        row = self.place.ld * self.size
        if self.place.heads > 1 or other.place.heads > 1 or row != other.place.ld * other.size:
            return True
        apart = (other.view.pointer - self.view.pointer) % row
        beside = self.place.columns * self.size <= apart and apart + other.place.columns * other.size <= row
        return not beside


def rank_of(spec: Operand, heads: int) -> int:
    """Dimensions of an operand."""
    return (1 if spec.extent in ("entries", "one") else 2) + int(heads > 1 and not spec.shared)


def place_of(view: View, spec: Operand, heads: int, vectors: bool) -> Place | None:
    """Returns the layout of an operand of the required shape; None if the C interface cannot express it: rows are not
    contiguous, or rows or heads have negative or zero strides. `vectors`: an operand with one column is a list."""
    many = heads > 1 and not spec.shared
    count = view.shape[0] if many else 1
    shape = view.shape[1:] if many else view.shape
    is_list = spec.extent in ("entries", "one")
    rows, columns = (shape[0], 1) if vectors else (1, shape[0]) if is_list else shape
    if 0 in view.shape:
        return Place(count, rows, columns, rows * columns, max(columns, 1))
    if view.strides is None or not view.aligned:
        return None
    strides = view.strides[1:] if many else view.strides
    ld, step = (strides[0], 1) if vectors else (columns, strides[0]) if is_list else strides
    if rows == 1:
        ld = columns
    batch = view.strides[0] if count > 1 else 0
    torn = (columns > 1 and step != 1) or ld < columns or (count > 1 and batch <= 0)
    return None if torn else Place(count, rows, columns, batch, ld)


def torn_result(view: View, spec: Operand) -> UsageError:
    return UsageError(
        f"{spec.name} has strides {view.strides}; rows must be contiguous (stride 1 along columns)"
    )


def check_overlaps(placed: list[Placed]) -> None:
    """Refuses results that share memory with another operand."""
    for i, result in enumerate(placed):
        for j, other in enumerate(placed):
            if result.spec.result and i != j and result.overlaps(other):
                raise UsageError(
                    f"{result.spec.name} overlaps {other.spec.name}; pass separate memory for results"
                )
