"""Reductions of messages, functions of an edge and its two nodes, in pieces of edges.

A piece has a bounded number of elements. No message is kept: the gradient computes those of each piece again. Sums over
the edges of a piece are SpMM in a fixed order, so results and gradients are bitwise reproducible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from . import operators
from .gatv2 import every_in_order
from .handle import Entries, Handle
from .matrix import SparseMatrix, cast
from .operands import statistic
from .pattern import MAX_SIDE, EntryOrder, Pattern, apart
from .reductions import segment_reduce

# Computes messages [edges, width] from rows of the targets' features, of the sources', of the edges', and parameters.
# Those that are not given are None.
Message = Callable[[Any, Any, Any, Sequence[Tensor]], Tensor]
# Elements of the messages of one piece: they fit in L3 of a CPU, and keep a device busy.
_ELEMENTS = {"cpu": 1 << 20, "cuda": 1 << 25}


class Piece:
    """Entries begin to end - 1 of a pattern in CSR order, which are in rows first to last - 1."""

    def __init__(self, pattern: Pattern, begin: int, end: int, first: int, last: int, ids: Tensor) -> None:
        self.begin, self.end, self.first, self.last = begin, end, first, last
        self.col = pattern.col[begin:end]
        crow = pattern.crow[first : last + 1].clamp(begin, end) - begin
        self.rows = _entries(last - first, crow, ids[: end - begin])
        self._columns: tuple[Tensor, Entries] | None = None

    def row(self) -> Tensor:
        """Returns the row of each entry, int64."""
        return self.rows.handle.pattern.row() + self.first

    def columns(self) -> tuple[Tensor, Entries]:
        """Returns the distinct columns, and the matrix whose rows have the entries of each. Kept."""
        if self._columns is None:
            with apart():
                column, place = torch.sort(self.col, stable=True)
                distinct, counts = torch.unique_consecutive(column, return_counts=True)
                crow = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
                self._columns = distinct, _entries(distinct.shape[0], crow, place.to(torch.int32))
        return self._columns


def _entries(rows: int, crow: Tensor, col: Tensor) -> Entries:
    return Entries(Handle(Pattern(rows, col.shape[0], crow, col), None, "csr"), EntryOrder(col.shape[0]))


class _Pieces(NamedTuple):
    """The pieces of all given edges of a graph, in the order of CSR."""

    rows: int
    given: int
    source: Tensor | None  # the given edge of each; None: in order
    pieces: list[Piece]


def _pieces_of(a: SparseMatrix, width: int) -> _Pieces:
    """Returns pieces for messages of a width. The matrix keeps them."""
    most = max(1, _ELEMENTS[a.device.type] // max(width, 1))
    size = 1 << (most.bit_length() - 1)

    def make() -> _Pieces:
        every, source = every_in_order(a)
        pattern = every.pattern
        begins = list(range(0, pattern.nnz, size))
        ends = [*begins[1:], pattern.nnz][: len(begins)]
        bounds = torch.tensor([begins, ends], dtype=pattern.crow.dtype, device=pattern.device)
        first = (torch.searchsorted(pattern.crow, bounds[0], right=True) - 1).tolist()
        last = torch.searchsorted(pattern.crow, bounds[1]).tolist()
        ids = torch.arange(min(size, pattern.nnz), dtype=torch.int32, device=pattern.device)
        parts = zip(begins, ends, first, last, strict=True)
        return _Pieces(a.shape[0], pattern.nnz, source, [Piece(pattern, *part, ids) for part in parts])

    return a._derive(f"pieces {size}", make)


class _Call(NamedTuple):
    """The arguments of a reduction that are not tensors."""

    pieces: _Pieces
    message: Message
    width: int
    reductions: Sequence[str]


def _gathered(x: Tensor | None, index: Tensor | slice) -> Tensor | None:
    return None if x is None else x[index] if isinstance(index, slice) else x.index_select(0, index)


def _places(call: _Call, piece: Piece) -> Tensor | slice:
    """Returns the given edges of a piece."""
    source = call.pieces.source
    return slice(piece.begin, piece.end) if source is None else source[piece.begin : piece.end]


class _Reduced(torch.autograd.Function):
    """Returns the reductions [rows, width], then the edge of each maximum and minimum, by its place in CSR order."""

    @staticmethod
    def forward(
        ctx: Any, call: _Call, targets: Tensor | None, sources: Tensor | None, edges: Tensor | None, *parameters: Tensor
    ) -> Any:
        like = next(x for x in (sources, targets, edges) if x is not None)
        shape = (call.pieces.rows, call.width)
        found = {name: like.new_zeros(shape, dtype=statistic(like.dtype)) for name in call.reductions}
        extremes = [name for name in call.reductions if name in ("max", "min")]
        place = torch.int64 if call.pieces.given > MAX_SIDE else torch.int32
        args = {name: like.new_full(shape, -1, dtype=place) for name in extremes}
        for piece in call.pieces.pieces:
            of_targets = None if targets is None else targets.index_select(0, piece.row())
            of_edges = _gathered(edges, _places(call, piece))
            messages = call.message(of_targets, _gathered(sources, piece.col), of_edges, parameters)
            messages = messages.to(statistic(like.dtype)).contiguous()
            for name, out in found.items():
                part = out[piece.first : piece.last]
                if name in args:
                    _take_better(part, args[name][piece.first : piece.last], piece, messages, name == "min")
                else:
                    terms = messages if name == "sum" else messages * messages
                    operators._add_spmm(piece.rows, False, terms, part)
        ctx.call = call
        ctx.save_for_backward(targets, sources, edges, *parameters, *args.values())
        ctx.mark_non_differentiable(*args.values())
        return (*found.values(), *args.values())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        call: _Call = ctx.call
        extremes = [name for name in call.reductions if name in ("max", "min")]
        count = len(ctx.saved_tensors) - len(extremes)
        tensors, args = ctx.saved_tensors[:count], dict(zip(extremes, ctx.saved_tensors[count:], strict=True))
        wanted = ctx.needs_input_grad[1:]
        given = dict(zip(call.reductions, gradients, strict=False))
        wide = gradients[0].dtype
        # Gradients of edges have one writer. The others are sums.
        sums = [
            x.new_zeros(x.shape, dtype=x.dtype if place == 2 else wide) if want else None
            for place, (x, want) in enumerate(zip(tensors, wanted, strict=True))
        ]
        for piece in call.pieces.pieces:
            row, places = piece.row(), _places(call, piece)
            gathered = [_gathered(x, at) for x, at in zip(tensors[:3], (row, piece.col, places), strict=True)]
            pairs = zip((*gathered, *tensors[3:]), wanted, strict=True)
            own: list[Any] = [None if x is None else x.detach().requires_grad_(want) for x, want in pairs]
            with torch.enable_grad():
                messages = call.message(own[0], own[1], own[2], own[3:])
            of_messages = _of_messages(given, args, messages.detach(), row, piece).to(messages.dtype)
            learned = [place for place, want in enumerate(wanted) if want]
            found = torch.autograd.grad(messages, [own[place] for place in learned], of_messages, allow_unused=True)
            for place, gradient in zip(learned, found, strict=True):
                if gradient is not None:
                    _add(sums[place], place, piece, places, gradient)  # type: ignore[arg-type]
        return None, *(None if x is None else x.to(like.dtype) for x, like in zip(sums, tensors, strict=True))


def _take_better(best: Tensor, arg: Tensor, piece: Piece, messages: Tensor, least: bool) -> None:
    """Replaces the maxima, or minima, of the rows of a piece by those of its messages where these are larger. The first
    of equal ones stays, and of NaN."""
    found, place = operators._spmm_max(piece.rows, messages, None, least)
    larger = found < best if least else found > best
    better = (place >= 0) & ((arg < 0) | larger | (found.isnan() & ~best.isnan()))
    best.copy_(torch.where(better, found, best))
    arg.copy_(torch.where(better, place + piece.begin, arg))


def _of_messages(
    given: dict[str, Tensor], args: dict[str, Tensor], messages: Tensor, row: Tensor, piece: Piece
) -> Tensor:
    """Returns the gradient of the messages of a piece from those of the reductions."""
    terms = []
    for name, g in given.items():
        if name == "sum":
            terms.append(g.index_select(0, row))
        elif name == "squares":
            terms.append(g.index_select(0, row).mul_(messages).mul_(2))
        else:
            # Each message has at most one writer. Those of other pieces are written to a last row.
            place = args[name][piece.first : piece.last].long() - piece.begin
            there = (place >= 0) & (place < messages.shape[0])
            padded = g.new_zeros((messages.shape[0] + 1, messages.shape[1]))
            padded.scatter_(0, torch.where(there, place, messages.shape[0]), g[piece.first : piece.last])
            terms.append(padded[:-1])
    total = terms[0]
    for term in terms[1:]:
        total += term
    return total


def _add(out: Tensor, kind: int, piece: Piece, places: Tensor | slice, gradient: Tensor) -> None:
    """Adds the gradient of one argument of `Message` for a piece: 0 targets, 1 sources, 2 edges, 3... parameters."""
    if kind == 0:
        operators._add_spmm(piece.rows, False, gradient.to(out.dtype).contiguous(), out[piece.first : piece.last])
    elif kind == 1:
        distinct, by_column = piece.columns()
        sums = operators._spmm(by_column, False, gradient.to(out.dtype), None)
        out.index_add_(0, distinct, sums)  # one writer per row
    elif kind == 2:
        if isinstance(places, slice):
            out[places] = gradient
        else:
            out.index_copy_(0, places.long(), gradient)
    else:
        out += gradient


def reduce_messages(
    a: SparseMatrix,
    message: Message,
    width: int,
    reductions: Sequence[str],
    targets: Tensor | None,
    sources: Tensor | None,
    edges: Tensor | None,
    parameters: Sequence[Tensor] = (),
    in_pieces: bool = True,
) -> dict[str, Tensor]:
    """Returns reductions [rows, width] of the messages to each row, in float32 or wider, by name: "sum", "squares",
    "max", "min". Rows without edges are 0.

    targets [rows, ...], sources [cols, ...], edges [given, ...]; None: messages do not depend on them. `message` must
    be a function of its arguments alone, as it is computed again. With `in_pieces` False, and in compiled code and
    transforms of torch.func, messages are kept.
    """
    tensors = [targets, sources, edges, *parameters]
    if torch.is_autocast_enabled(a.device.type):
        tensors = [cast(a, x) for x in tensors]
    with torch.autocast(a.device.type, enabled=False):
        if not in_pieces or torch.compiler.is_compiling() or operators.transformed():
            return _in_steps(a, message, reductions, tensors)
        call = _Call(_pieces_of(a, width), message, width, reductions)
        found: Sequence[Tensor] = _Reduced.apply(call, *tensors)  # type: ignore[no-untyped-call]
    return dict(zip(reductions, found, strict=False))


def _in_steps(
    a: SparseMatrix, message: Message, reductions: Sequence[str], tensors: Sequence[Tensor | None]
) -> dict[str, Tensor]:
    row, col = a.places()
    targets, sources, edges, *parameters = tensors
    messages = message(_gathered(targets, row), _gathered(sources, col), edges, parameters)  # type: ignore[arg-type]
    messages = messages.to(statistic(messages.dtype))
    squares = messages * messages if "squares" in reductions else messages
    return {
        name: segment_reduce(a, squares if name == "squares" else messages, "sum" if name == "squares" else name)
        for name in reductions
    }
