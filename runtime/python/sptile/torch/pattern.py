"""Where a sparse matrix has entries: CSR arrays in order, how they follow from those of the user, the
transpose."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import accumulate

import torch
from torch import Tensor

from .._memory import check_memory
from ..errors import BadInputError, UnsupportedError, UsageError

MAX_SIDE = 2**31 - 1


def check_list_of_ids(ids: object, what: str) -> Tensor:
    """Refuses what is no list of integers."""
    if not isinstance(ids, Tensor):
        raise UsageError(f"{what} is of type {type(ids).__name__}; pass a tensor of int32 or int64")
    if ids.layout != torch.strided or ids.dtype not in (torch.int32, torch.int64) or ids.dim() != 1:
        raise UsageError(
            f"{what} is {ids.dtype} {list(ids.shape)}, {ids.layout}; pass a dense list (one dimension) "
            "of int32 or int64"
        )
    if ids.device.type not in ("cpu", "cuda"):
        raise UnsupportedError(f"{what} is on {ids.device}; use the CPU or a CUDA device")
    return ids


def _check_ids(ids: object, what: str, count: int) -> None:
    """Refuses ids that are no list of integers from 0 to count - 1."""
    ids = check_list_of_ids(ids, what)
    if ids.numel() == 0:
        return
    low, high = (int(x) for x in torch.aminmax(ids))
    if low < 0 or high >= count:
        raise BadInputError(f"{what} has {low if low < 0 else high}; ids are 0 to {count - 1}")


def _check_side(size: int, what: str) -> None:
    if size < 0:
        raise UsageError(f"a matrix of {size} {what}; sizes are not negative")
    if size > MAX_SIDE:
        raise UnsupportedError(f"a matrix of {size} {what}; row and column ids are 32-bit")


def check_pointers_fit(size: int, what: str, device: torch.device) -> None:
    """IoError where the pointers of so many rows or columns, and the array that they are made from, do not fit."""
    needed = 16 * (size + 1)
    if device.type == "cuda" and needed >= 1 << 27:
        cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        check_memory(f"the pointers of {size} {what}", needed, torch.cuda.mem_get_info(device)[0] + cached)
    elif device.type == "cpu":
        check_memory(f"the pointers of {size} {what}", needed)


def _rows_of_pointers(crow: Tensor, entries: int) -> Tensor:
    """The row of each entry; refuses pointers that are none."""
    if crow.numel() == 0:
        raise UsageError("crow is empty; it has one number more than the matrix has rows")
    crow = crow.to(torch.int64)
    counts = crow.diff()
    if int(crow[0]) != 0 or int(crow[-1]) != entries or bool((counts < 0).any()):
        raise BadInputError(f"crow must rise from 0 to the number of entries, {entries}")
    rows = torch.arange(crow.numel() - 1, device=crow.device)
    return torch.repeat_interleave(rows, counts, output_size=entries)


def inverse(permutation: Tensor) -> Tensor:
    """Where each number stands in a permutation."""
    places = torch.arange(permutation.numel(), dtype=permutation.dtype, device=permutation.device)
    return torch.empty_like(permutation).index_copy_(0, permutation.long(), places)


class EntryOrder:
    """How the numbers that a user has for entries, one for each as they were given, go with those of CSR.

    position  int64 [given]: which entry of CSR each is; None: they are in order
    source    int64 [nnz]: the inverse; None where entries are in order, or were given more than once
    """

    def __init__(self, nnz: int, position: Tensor | None = None, source: Tensor | None = None) -> None:
        self.nnz, self.position, self.source = nnz, position, source
        self.given = nnz if position is None else position.numel()

    def to_csr(self, values: Tensor) -> Tensor:
        """Numbers as they were given (first dimension) in the order of CSR, added where an entry was given
        more than once. Differentiable."""
        if self.position is None:
            return values
        if self.source is not None:
            return values.index_select(0, self.source)
        return values.new_zeros((self.nnz, *values.shape[1:])).index_add(0, self.position, values)

    def from_csr(self, values: Tensor) -> Tensor:
        """Numbers in the order of CSR (first dimension) for each entry as it was given. Differentiable."""
        return values if self.position is None else values.index_select(0, self.position)

    def transposed(self, source: Tensor) -> EntryOrder:
        """The same user's numbers, and the CSR of the transpose, whose entries were `source`."""
        place = inverse(source).long()
        if self.position is None:
            return EntryOrder(self.nnz, place, source.long())
        of_source = None if self.source is None else self.source.index_select(0, source)
        return EntryOrder(self.nnz, place.index_select(0, self.position), of_source)

    def to(self, device: torch.device) -> EntryOrder:
        """The same on another device."""
        moved = [None if ids is None else ids.to(device) for ids in (self.position, self.source)]
        return EntryOrder(self.nnz, *moved)


class Pattern:
    """The entries of a rows x cols matrix: `crow` int64 [rows + 1], `col` int32 [nnz], rows ascending,
    columns strictly ascending in them."""

    def __init__(self, rows: int, cols: int, crow: Tensor, col: Tensor) -> None:
        self.rows, self.cols, self.crow, self.col = rows, cols, crow, col
        self.nnz = col.numel()
        self.device = crow.device
        self._lock = threading.Lock()
        self._transposed: tuple[Pattern | None, Tensor] | None = None

    def row(self) -> Tensor:
        """int64 [nnz]: the row of each entry."""
        rows = torch.arange(self.rows, device=self.device)
        return torch.repeat_interleave(rows, self.crow.diff(), output_size=self.nnz)

    def transposed(self) -> tuple[Pattern, Tensor]:
        """The transpose, which is this pattern where it is symmetric, and which entry of this one each of its
        entries is: int32 [nnz] (int64 of more than 2^31). Made once, by a sort of the columns."""
        with self._lock:
            if self._transposed is None:
                self._transposed = self._transpose()
            pattern, source = self._transposed
        return (self if pattern is None else pattern), source

    def _transpose(self) -> tuple[Pattern | None, Tensor]:
        """None for the pattern itself, which must not hold itself."""
        check_pointers_fit(self.cols, "columns", self.device)
        column, source = torch.sort(self.col, stable=True)
        crow = torch.searchsorted(column, torch.arange(self.cols + 1, device=self.device, dtype=column.dtype))
        col = self.row().to(torch.int32)[source]
        if self.nnz <= MAX_SIDE:
            source = source.to(torch.int32)
        if self.rows == self.cols and torch.equal(crow, self.crow) and torch.equal(col, self.col):
            return None, source
        return Pattern(self.cols, self.rows, crow, col), source

    def to(self, device: torch.device) -> Pattern:
        """The same on another device."""
        return Pattern(self.rows, self.cols, self.crow.to(device), self.col.to(device))


def pattern_of_entries(row: Tensor, col: Tensor, rows: int, cols: int) -> tuple[Pattern, EntryOrder]:
    """Of the row and the column of each entry, in any order."""
    _check_side(rows, "rows")
    _check_side(cols, "columns")
    _check_ids(row, "row", rows)
    _check_ids(col, "col", cols)
    if row.numel() != col.numel():
        raise UsageError(f"{row.numel()} rows and {col.numel()} columns; each entry has one of both")
    if row.device != col.device:
        raise UsageError(f"rows are on {row.device}, columns on {col.device}; put them on one device")
    check_pointers_fit(rows, "rows", row.device)
    width = max(cols, 1)
    place = row.to(torch.int64) * width + col
    position = source = None
    if place.numel() > 1 and not bool((place[1:] > place[:-1]).all()):
        place, source = torch.sort(place, stable=True)
        new = torch.ones_like(place, dtype=torch.bool)
        torch.ne(place[1:], place[:-1], out=new[1:])
        position = torch.empty_like(source)
        position[source] = new.cumsum(0) - 1
        if not bool(new.all()):
            place, source = place[new], None
    crow = torch.searchsorted(place, torch.arange(rows + 1, device=place.device) * width)
    pattern = Pattern(rows, cols, crow, (place % width).to(torch.int32))
    return pattern, EntryOrder(pattern.nnz, position, source)


def pattern_of_pointers(crow: Tensor, col: Tensor, cols: int) -> tuple[Pattern, EntryOrder]:
    """Of CSR arrays; columns may stand in any order in their row."""
    row = _rows_of_pointers(check_list_of_ids(crow, "crow"), check_list_of_ids(col, "col").numel())
    return pattern_of_entries(row, col, crow.numel() - 1, cols)


def _side_of(sizes: Sequence[int], what: str) -> int:
    """All of them; UnsupportedError names the matrix with which they are too many."""
    total = 0
    for number, size in enumerate(sizes):
        if size > MAX_SIDE - total:
            raise UnsupportedError(
                f"matrix {number} of the batch: {size} {what} behind {total}; a batch has at most {MAX_SIDE}"
            )
        total += size
    return total


def _begins(sizes: Sequence[int]) -> list[int]:
    """Where each of some lists begins that stand one behind the other."""
    return [0, *accumulate(sizes)][:-1]


def _chain(lists: Sequence[Tensor], begins: Sequence[int]) -> Tensor:
    """int64: lists of ids one behind the other, those of each moved to where its own begin."""
    device = lists[0].device
    lengths = [ids.numel() for ids in lists]
    moves = torch.repeat_interleave(
        torch.tensor(begins, dtype=torch.int64, device=device),
        torch.tensor(lengths, device=device),
        output_size=sum(lengths),
    )
    return moves.add_(torch.cat(list(lists)))


def chain_patterns(patterns: Sequence[Pattern], diagonal: bool) -> Pattern:
    """Of one pattern or more, rows of each behind those of the one before, and if `diagonal` columns, too;
    else all have the same columns."""
    rows = _side_of([p.rows for p in patterns], "rows")
    cols, first_columns = patterns[0].cols, [0] * len(patterns)
    if diagonal:
        widths = [p.cols for p in patterns]
        cols, first_columns = _side_of(widths, "columns"), _begins(widths)
    ends = _chain([p.crow[1:] for p in patterns], _begins([p.nnz for p in patterns]))
    crow = torch.cat([ends.new_zeros(1), ends])
    return Pattern(rows, cols, crow, _chain([p.col for p in patterns], first_columns).to(torch.int32))


def chain_orders(orders: Sequence[EntryOrder], device: torch.device) -> EntryOrder:
    """Of numbers for the entries of patterns, as they were given, one behind the other."""
    nnz = sum(order.nnz for order in orders)
    if all(order.position is None for order in orders):
        return EntryOrder(nnz)

    def ids(order: EntryOrder, found: Tensor | None) -> Tensor:
        return torch.arange(order.nnz, device=device) if found is None else found

    position = _chain([ids(o, o.position) for o in orders], _begins([o.nnz for o in orders]))
    if any(o.position is not None and o.source is None for o in orders):
        return EntryOrder(nnz, position)
    source = _chain([ids(o, o.source) for o in orders], _begins([o.given for o in orders]))
    return EntryOrder(nnz, position, source)
