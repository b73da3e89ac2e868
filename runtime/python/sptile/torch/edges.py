"""The matrix of an edge_index, which sorts its entries when it has multiplied often enough for that to pay."""

from __future__ import annotations

import threading
from typing import Any

import torch
from torch import Tensor

from . import operators
from .handle import Handle, Ref
from .matrix import SparseMatrix
from .pattern import apart, pattern_of_entries
from .sorting import add_rows

# Elements of messages (edges times columns) of all products of an edge_index from which its matrix pays: sorting and
# planning take as long as torch needs to gather and add this many.
PAYS_AT = 1 << 22


def _sums(row: Tensor, col: Tensor, rows: int, x: Tensor) -> Tensor | None:
    """Returns the sums of the rows `col` of x over the entries of each row; None if an id is out of range."""
    found = add_rows(row, col, rows, x)
    if found is not None:
        return found
    try:
        return x.new_zeros(rows, x.shape[1]).index_add(0, row, x.index_select(0, col))
    except (IndexError, RuntimeError):
        return None


class _Sums(torch.autograd.Function):
    """`_sums` with derivatives of any order."""

    @staticmethod
    def forward(ctx: Any, row: Tensor, col: Tensor, rows: int, x: Tensor) -> Tensor | None:
        ctx.save_for_backward(row, col)
        ctx.cols = x.shape[0]
        return _sums(row, col, rows, x)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        row, col = ctx.saved_tensors
        if g.requires_grad and torch.is_grad_enabled():
            return None, None, None, _Sums.apply(col, row, ctx.cols, g)
        return None, None, None, _sums(col, row, ctx.cols, g)


class EdgeMatrix(SparseMatrix):
    """The matrix of edges [2, edges] in host memory, from the first to the second row, without values."""

    _degrees: Tensor | None
    _MADE = frozenset(("_entries", "_product", "values", "_learned", "_counts"))  # with the sorted entries

    def __init__(self, edges: Tensor, rows: int, cols: int) -> None:
        self._edges, self._elements, self._lock = edges, 0, threading.Lock()
        self.given, self._degrees = edges.shape[1], None
        self.shape, self.dtype, self.device = torch.Size((rows, cols)), torch.float32, edges.device
        self.is_normalized = False
        self._derived: dict[str, Any] = {}
        self._packed: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name not in EdgeMatrix._MADE:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        with self._lock:
            if name not in self.__dict__:
                with apart():
                    pattern, order = pattern_of_entries(self._edges[1], self._edges[0], *self.shape)
                    self._set(Ref.of(Handle(pattern), order), None)
        return self.__dict__[name]

    def few(self, x: Tensor) -> bool:
        """Returns whether a product with x, which this call counts, should gather the rows of x: entries that nothing
        else has sorted yet are too few for a matrix to pay."""
        if (
            "_counts" in self.__dict__  # the last that is set
            or type(x) not in (Tensor, torch.nn.Parameter)
            or x.dim() != 2
            or x.dtype not in (torch.float32, torch.float64)
            or not x.is_cpu
            or operators.watched()
        ):
            return False
        self._elements += self.given * x.shape[1]
        return self._elements < PAYS_AT

    def sums(self, x: Tensor) -> Tensor | None:
        """Returns the product with x [cols, n] without sorting; None if an id or the shape of x does not fit."""
        rows, cols = self.shape
        if x.shape[0] != cols or (self.given > 0 and self._edges.dtype not in (torch.int32, torch.int64)):
            return None
        source, target = self._edges
        if x.requires_grad and torch.is_grad_enabled():
            sums: Tensor | None = _Sums.apply(target, source, rows, x)
            return sums
        return _sums(target, source, rows, x)

    def degrees_of_edges(self, dtype: torch.dtype) -> Tensor:
        """Returns the number of edges that lead to each node, [rows, 1], at least 1, if all ids are in range."""
        if self._degrees is None or self._degrees.dtype != dtype:
            with apart():
                target = self._edges[1]
                ones = torch.ones((), dtype=dtype, device=self.device).expand(self.given)
                counts = torch.zeros(self.shape[0], dtype=dtype, device=self.device)
                self._degrees = counts.index_add_(0, target, ones).clamp_(min=1).unsqueeze(1)
        return self._degrees
