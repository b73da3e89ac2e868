"""Sparsity patterns: sorted CSR arrays, their relation to the arrays of the user, and the transpose."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import accumulate
from typing import Any, ParamSpec, TypeVar

import torch
from torch import Tensor
from torch._C import _are_functorch_transforms_active, _DisableFuncTorch, _len_torch_dispatch_stack
from torch.utils._python_dispatch import _disable_current_modes

from .._memory import check_memory
from ..errors import ArgumentTypeError, BadInputError, InternalError, UnsupportedError, UsageError
from .sorting import sort_entries, transpose_pattern

MAX_SIDE = 2**31 - 1

_eval_frame: Any = torch._C._dynamo.eval_frame

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


@contextmanager
def apart() -> Iterator[None]:
    """Leaves inference mode, transforms and modes, so that tensors created here can be cached for any later call."""
    if not (torch.is_inference_mode_enabled() or _are_functorch_transforms_active() or _len_torch_dispatch_stack()):
        with torch.no_grad():  # the others take longer to leave than a small matrix to create
            yield
        return
    with ExitStack() as stack:
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.no_grad())
        stack.enter_context(_DisableFuncTorch())
        if _len_torch_dispatch_stack() > 0:
            stack.enter_context(_disable_current_modes())
        yield


def kept(make: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """A function whose result is kept."""

    @functools.wraps(make)
    def made(*arguments: Parameters.args, **named: Parameters.kwargs) -> Result:
        with apart():
            return make(*arguments, **named)

    return made


def untraced(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Marks a function that torch.compile runs uncompiled. A function that passes addresses on must keep its tensors
    until it returns; compiled frames drop unused tensors."""
    if hasattr(_eval_frame, "set_code_exec_strategy"):
        skip = _eval_frame._FrameAction.SKIP
        _eval_frame.set_code_exec_strategy(function.__code__, _eval_frame._FrameExecStrategy(skip, skip))
    elif hasattr(_eval_frame, "skip_code"):  # torch before 2.7
        _eval_frame.skip_code(function.__code__)
    return function


def check_list_of_ids(ids: object, what: str) -> Tensor:
    """Raises unless `ids` is a one-dimensional integer tensor."""
    if not isinstance(ids, Tensor):
        raise ArgumentTypeError(f"{what} must be an int32 or int64 tensor, got {type(ids).__name__}")
    if ids.layout != torch.strided or ids.dtype not in (torch.int32, torch.int64) or ids.dim() != 1:
        raise UsageError(
            f"{what} must be a dense one-dimensional int32 or int64 tensor, got {ids.dtype} {list(ids.shape)}, "
            f"{ids.layout}"
        )
    if ids.device.type not in ("cpu", "cuda"):
        raise UnsupportedError(f"{what} must be on the CPU or a CUDA device, got {ids.device}")
    return ids


def check_ids(ids: object, what: str, count: int) -> None:
    """Raises unless `ids` is a one-dimensional tensor of integers from 0 to count - 1."""
    ids = check_list_of_ids(ids, what)
    if ids.numel() == 0:
        return
    low, high = (int(x) for x in torch.aminmax(ids))
    if low < 0 or high >= count:
        raise BadInputError(f"{what} must have ids from 0 to {count - 1}, got {low if low < 0 else high}")


def _check_side(size: int, what: str) -> None:
    if size < 0:
        raise UsageError(f"the number of {what} must not be negative, got {size}")
    if size > MAX_SIDE:
        raise UnsupportedError(f"a matrix has at most {MAX_SIDE} {what}, got {size}")


def check_pointers_fit(size: int, what: str, device: torch.device) -> None:
    """Raises IoError if the pointers of `size` rows or columns, and their source array, do not fit in memory."""
    needed = 16 * (size + 1)
    if device.type == "cuda" and needed >= 1 << 27:
        cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        check_memory(f"the pointers of {size} {what}", needed, torch.cuda.mem_get_info(device)[0] + cached)
    elif device.type == "cpu":
        check_memory(f"the pointers of {size} {what}", needed)


def rows_of_pointers(crow: Tensor, entries: int) -> Tensor:
    """The row of each entry; refuses pointers that are none."""
    if crow.numel() == 0:
        raise UsageError("crow must have one more element than the matrix has rows, got none")
    crow = crow.to(torch.int64)
    counts = crow.diff()
    if int(crow[0]) != 0 or int(crow[-1]) != entries or bool((counts < 0).any()):
        raise BadInputError(f"crow must increase from 0 to the number of nonzeros, {entries}")
    rows = torch.arange(crow.numel() - 1, device=crow.device)
    return torch.repeat_interleave(rows, counts, output_size=entries)


def inverse(permutation: Tensor) -> Tensor:
    """Returns the inverse of a permutation."""
    places = torch.arange(permutation.numel(), dtype=permutation.dtype, device=permutation.device)
    return torch.empty_like(permutation).index_copy_(0, permutation.long(), places)


def short(ids: Tensor) -> Tensor:
    """Returns ids from 0 to at most their number in int32, or as they are if there are 2^31 or more."""
    return ids if ids.numel() > MAX_SIDE else ids.to(torch.int32)


# Sums of several numbers are formed in a wider type.
WIDE = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.float32: torch.float64}


class EntryOrder:
    """Maps numbers in the order in which entries were given to the order of CSR.

    position  [given]: the CSR entry of each given one; None: they are in order
    source    [nnz]: the inverse; None where entries are in order, or were given more than once

    Both are int32, int64 beyond 2^31 entries.
    """

    def __init__(self, nnz: int, position: Tensor | None = None, source: Tensor | None = None) -> None:
        self.nnz = nnz
        self.position, self.source = (None if ids is None else short(ids) for ids in (position, source))
        self.given = nnz if position is None else position.numel()
        self.repeats = position is not None and source is None
        self._counts: Tensor | None = None

    def positions(self) -> Tensor:
        """`position` in int64, of an order that repeats entries."""
        if self.position is None:
            raise InternalError("the order repeats no entry")
        return self.position.long()

    def to_csr(self, values: Tensor, dim: int = 0) -> Tensor:
        """Numbers of the given entries in the order of CSR. Repeated entries are summed in float32 or wider.
        Differentiable."""
        if self.position is None:
            return values
        if self.source is not None:
            return values.index_select(dim, self.source)
        shape = list(values.shape)
        shape[dim] = self.nnz
        wide = values.to(WIDE.get(values.dtype, values.dtype))
        return wide.new_zeros(shape).index_add(dim, self.position, wide).to(values.dtype)

    def from_csr(self, values: Tensor, dim: int = 0) -> Tensor:
        """Numbers in the order of CSR for each given entry. Differentiable."""
        return values if self.position is None else values.index_select(dim, self.position)

    @kept
    def counts(self) -> Tensor:
        """float64 [nnz]: how often each entry was given. Only of an order that repeats."""
        if self._counts is None:
            self._counts = torch.bincount(self.positions(), minlength=self.nnz).to(torch.float64)
        return self._counts

    def log_sum_exp(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """Returns, from scores [..., given] of an order that repeats entries, the logarithm of the sum of
        exponentials per entry [..., nnz], and each given entry's share of that sum [..., given]. Shares of a sum of
        -inf are 0."""
        index = self.positions().expand(scores.shape)
        shape = (*scores.shape[:-1], self.nnz)
        top = scores.new_full(shape, -torch.inf).scatter_reduce(-1, index, scores, "amax")
        shift = torch.where(top == -torch.inf, 0, top)
        weights = (scores - self.from_csr(shift, -1)).exp()
        sums = self.to_csr(weights, -1)
        shares = weights / self.from_csr(torch.where(sums == 0, 1, sums), -1)
        return shift + sums.log(), shares

    @kept
    def transposed(self, source: Tensor) -> EntryOrder:
        """The same user's numbers, and the CSR of the transpose, whose entries were `source`."""
        place = inverse(source)
        if self.position is None:
            return EntryOrder(self.nnz, place, source)
        of_source = None if self.source is None else self.source.index_select(0, source)
        return EntryOrder(self.nnz, place.index_select(0, self.position), of_source)

    @kept
    def to(self, device: torch.device) -> EntryOrder:
        """The same on another device."""
        moved = [None if ids is None else ids.to(device) for ids in (self.position, self.source)]
        return EntryOrder(self.nnz, *moved)


class Loops:
    """Diagonal entries that were added to a pattern.

    position  int64 [nnz of the pattern]: the place of each entry in the pattern with the loops; None: none were added
    """

    def __init__(self, nnz: int, position: Tensor | None = None) -> None:
        """nnz: number of entries with the loops."""
        self.nnz, self.position = nnz, position
        self.added = 0 if position is None else nnz - position.numel()

    def insert(self, values: Tensor, fill: float) -> Tensor:
        """Returns numbers in the order of CSR [nnz] from those of the pattern; those of added loops are `fill`.
        Differentiable."""
        if self.position is None:
            return values
        return values.new_full((self.nnz,), fill).index_copy(0, self.position, values)


class Pattern:
    """The entries of a rows x cols matrix: `crow` int64 [rows + 1], `col` int32 [nnz], rows ascending,
    columns strictly ascending in them."""

    def __init__(self, rows: int, cols: int, crow: Tensor, col: Tensor) -> None:
        self.rows, self.cols, self.crow, self.col = rows, cols, crow, col
        self.nnz = col.numel()
        self.device = crow.device
        self._lock = threading.Lock()
        self._transposed: tuple[Pattern | None] | None = None  # None: this pattern, which must not hold itself
        self._source: Tensor | None = None
        self.most_per_row: int | None = None  # limit that the host has without reading the device
        self.may_be_symmetric = rows == cols

    def row(self, dtype: torch.dtype = torch.int64) -> Tensor:
        """[nnz]: the row of each entry."""
        rows = torch.arange(self.rows, dtype=dtype, device=self.device)
        return torch.repeat_interleave(rows, self.crow.diff(), output_size=self.nnz)

    def transposed(self) -> tuple[Pattern, Tensor]:
        """Returns the transpose, which is this pattern if it is symmetric, and the index in this pattern of each of
        its entries: int32 [nnz] (int64 beyond 2^31), by sorting the columns. The pattern keeps the transpose, and from
        the second call on the index: a matrix whose values are fixed needs it once."""
        with self._lock:
            source = self._source
            if source is None:
                pattern, source = self._transpose()
                if self._transposed is None:
                    self._transposed = (pattern,)
                else:
                    self._source = source
            (pattern,) = self._transposed  # type: ignore[misc]
        return (self if pattern is None else pattern), source

    def source(self) -> Tensor:
        """Returns the index of `transposed`, which the pattern keeps."""
        with self._lock:
            if self._source is None:
                pattern, self._source = self._transpose()
                self._transposed = self._transposed or (pattern,)
            return self._source

    @kept
    def _transpose(self) -> tuple[Pattern | None, Tensor]:
        """Returns None for the pattern itself."""
        check_pointers_fit(self.cols, "columns", self.device)
        crow, col, source = transpose_pattern(self.crow, self.col, self.cols) or self._sorted_by_column()
        if self.may_be_symmetric and torch.equal(crow, self.crow) and torch.equal(col, self.col):
            return None, source
        return Pattern(self.cols, self.rows, crow, col), source

    def _sorted_by_column(self) -> tuple[Tensor, Tensor, Tensor]:
        """Returns row pointers and columns of the transpose, and the entry of this pattern of each of its entries."""
        column, source = torch.sort(self.col, stable=True)
        source = short(source)
        crow = torch.searchsorted(column, torch.arange(self.cols + 1, device=self.device, dtype=column.dtype))
        del column
        return crow, self.row(torch.int32).index_select(0, source), source

    @kept
    def with_loops(self) -> tuple[Pattern, Loops]:
        """Returns the pattern with all entries of the diagonal, which is this pattern if none is missing. O(nnz):
        entries move by the number of loops added before them."""
        row, nodes = self.row(torch.int32), min(self.rows, self.cols)
        missing = torch.arange(self.rows, device=self.device) < nodes
        missing[row[row == self.col].long()] = False
        loops = missing.nonzero().flatten()
        if loops.numel() == 0:
            return self, Loops(self.nnz)
        before = torch.cat([loops.new_zeros(1), missing.cumsum(0)])  # loops of the rows before
        position = before.index_select(0, row)
        position += missing.index_select(0, row).logical_and_(self.col > row)
        del row
        position += torch.arange(self.nnz, device=self.device)
        nnz = self.nnz + loops.numel()
        col, free = self.col.new_empty(nnz), torch.ones(nnz, dtype=torch.bool, device=self.device)
        col.index_copy_(0, position, self.col)
        free.index_fill_(0, position, False)
        col.masked_scatter_(free, loops.to(torch.int32))
        return Pattern(self.rows, self.cols, self.crow + before, col), Loops(nnz, position)

    @kept
    def to(self, device: torch.device) -> Pattern:
        """The same on another device."""
        return Pattern(self.rows, self.cols, self.crow.to(device), self.col.to(device))


@kept
def pattern_of_entries(row: Tensor, col: Tensor, rows: int, cols: int) -> tuple[Pattern, EntryOrder]:
    """Of the row and the column of each entry, in any order."""
    _check_side(rows, "rows")
    _check_side(cols, "columns")
    row, col = check_list_of_ids(row, "row"), check_list_of_ids(col, "col")
    found = sort_entries(row, col, rows, cols)
    if found is not None:
        crow, ids, *order = found
        return Pattern(rows, cols, crow, ids), EntryOrder(ids.numel(), *order)
    check_ids(row, "row", rows)
    check_ids(col, "col", cols)
    if row.numel() != col.numel():
        raise UsageError(f"row and column ids must have one length, got {row.numel()} and {col.numel()}")
    if row.device != col.device:
        raise UsageError(f"row and column ids must be on one device, got {row.device} and {col.device}")
    check_pointers_fit(rows, "rows", row.device)
    width = max(cols, 1)
    place = row.to(torch.int64) * width + col
    position = source = None
    if place.numel() > 1 and not bool((place[1:] > place[:-1]).all()):
        place, source = torch.sort(place, stable=True)
        new = torch.ones_like(place, dtype=torch.bool)
        torch.ne(place[1:], place[:-1], out=new[1:])
        position = torch.empty_like(source).index_copy_(0, source, new.cumsum(0).sub_(1))
        if not bool(new.all()):
            place, source = place[new], None
    crow = torch.searchsorted(place, torch.arange(rows + 1, device=place.device) * width)
    pattern = Pattern(rows, cols, crow, (place % width).to(torch.int32))
    return pattern, EntryOrder(pattern.nnz, position, source)


@kept
def pattern_of_pointers(crow: Tensor, col: Tensor, cols: int) -> tuple[Pattern, EntryOrder]:
    """Returns the pattern of CSR arrays; the columns of a row may be in any order."""
    row = rows_of_pointers(check_list_of_ids(crow, "crow"), check_list_of_ids(col, "col").numel())
    return pattern_of_entries(row, col, crow.numel() - 1, cols)


def _side_of(sizes: Sequence[int], what: str) -> int:
    """Returns the sum; raises UnsupportedError, which names the matrix that exceeds the limit."""
    total = 0
    for number, size in enumerate(sizes):
        if size > MAX_SIDE - total:
            raise UnsupportedError(
                f"matrix {number} of the batch: {size} {what} after {total}, but a batch has at most {MAX_SIDE}"
            )
        total += size
    return total


def _begins(sizes: Sequence[int]) -> list[int]:
    """Returns the offset of each list when the lists are concatenated."""
    return [0, *accumulate(sizes)][:-1]


def _chain(lists: Sequence[Tensor], begins: Sequence[int]) -> Tensor:
    """Returns the concatenated lists of ids (int64), each shifted by its entry of `begins`."""
    device = lists[0].device
    lengths = [ids.numel() for ids in lists]
    moves = torch.repeat_interleave(
        torch.tensor(begins, dtype=torch.int64, device=device),
        torch.tensor(lengths, device=device),
        output_size=sum(lengths),
    )
    return moves.add_(torch.cat(list(lists)))


@kept
def chain_patterns(patterns: Sequence[Pattern], diagonal: bool) -> Pattern:
    """Concatenates the rows of one or more patterns and, if `diagonal`, also their columns; otherwise all have
    the same columns."""
    rows = _side_of([p.rows for p in patterns], "rows")
    cols, first_columns = patterns[0].cols, [0] * len(patterns)
    if diagonal:
        widths = [p.cols for p in patterns]
        cols, first_columns = _side_of(widths, "columns"), _begins(widths)
    ends = _chain([p.crow[1:] for p in patterns], _begins([p.nnz for p in patterns]))
    crow = torch.cat([ends.new_zeros(1), ends])
    return Pattern(rows, cols, crow, _chain([p.col for p in patterns], first_columns).to(torch.int32))


@kept
def chain_orders(orders: Sequence[EntryOrder], device: torch.device) -> EntryOrder:
    """Returns the order of the concatenated given entries of patterns."""
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
