"""Rows of node features per edge, gathered only where a layer needs them one by one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from .. import functions
from ..operators import transformed
from ..pattern import kept
from ..reductions import of_few_edges
from .graphs import Graph

Function = Callable[..., Any]


class Gathered(Tensor):
    """A stand-in for a tensor with one row per edge. Sums and products over edges are computed from the features of
    the nodes. All other functions receive the tensor that it represents."""

    graph: Graph
    _gathered: Tensor | None = None

    def gathered(self) -> Tensor:
        """Returns the tensor that this one represents, made once."""
        if self._gathered is None:
            self._gathered = self._gather()
        return self._gathered

    def _gather(self) -> Tensor:
        raise NotImplementedError

    @classmethod
    def __torch_function__(
        cls,
        function: Function,
        types: Any,
        arguments: tuple[Any, ...] = (),
        keywords: dict[str, Any] | None = None,
    ) -> Any:
        keywords = keywords or {}
        with torch._C.DisableTorchFunctionSubclass():
            if function in _OF_SHAPE:
                return function(*arguments, **keywords)
            answer = _ANSWERS.get(function)
            if answer is not None:
                result = answer(*arguments, **keywords)
                if result is not None:
                    return result
            arguments, keywords = tree_map(_plain, (arguments, keywords))
        return function(*arguments, **keywords)


class Rows(Gathered):
    """``source[index] * weight``: index is the edges' source nodes ("j") or target nodes ("i")."""

    source: Tensor  # [nodes, ...]
    side: str
    weight: Tensor | None  # [edges], or [edges, heads] for a source [nodes, heads, n]
    axis: int  # which dimension counts edges
    inner: tuple[int, ...]  # the other dimensions, into which those of the source are reshaped

    def _gather(self) -> Tensor:
        self.graph.report("gather", self.source)
        x = self.graph.gather(self.source, self.side)
        if self.weight is not None:
            x = x * self.weight.reshape(self.weight.shape + (1,) * (x.dim() - self.weight.dim()))
        return self._shown(x)

    def _shown(self, x: Tensor) -> Tensor:
        """Returns x of one row per edge or node in the shape that the caller expects."""
        return x.reshape(x.shape[0], *self.inner).movedim(0, self.axis)

    def _like(self, source: Tensor, weight: Tensor | None, inner: tuple[int, ...] | None = None) -> Rows:
        return _rows(self.graph, source, self.side, weight, self.axis, self.inner if inner is None else inner)


class Pairs(Gathered):
    """``x_i * y_j``, whose sums over the last dimension are products of rows and columns."""

    x: Tensor  # [targets, ...]
    y: Tensor  # [sources, ...]

    def _gather(self) -> Tensor:
        self.graph.report("gather", self.x)
        return self.graph.gather(self.x, "i") * self.graph.gather(self.y, "j")


def rows(graph: Graph, x: Tensor, side: str, weight: Tensor | None = None, axis: int = 0) -> Rows:
    """Returns the rows of x at one end of the edges; dimension `axis` of x counts nodes."""
    source = x.movedim(axis, 0)
    return _rows(graph, source, side, weight, axis, tuple(source.shape[1:]))


def _rows(
    graph: Graph, source: Tensor, side: str, weight: Tensor | None, axis: int, inner: tuple[int, ...]
) -> Rows:
    made: Rows = _shaped(Rows, graph, (*inner[:axis], graph.edges, *inner[axis:]), source)
    made.source, made.side, made.weight, made.axis, made.inner = source, side, weight, axis, inner
    return made


def _pairs(graph: Graph, x: Tensor, y: Tensor) -> Pairs:
    made: Pairs = _shaped(Pairs, graph, (graph.edges, *x.shape[1:]), x)
    made.x, made.y = x, y
    return made


def _shaped(kind: Any, graph: Graph, shape: tuple[int, ...], like: Tensor) -> Any:
    """Not-a-numbers of this shape, without memory: code that passes by `__torch_function__` has no wrong numbers."""
    learns = torch.is_grad_enabled() and like.requires_grad
    made = _blank(like.dtype, like.device, learns).expand(shape).as_subclass(kind)
    made.graph = graph
    return made


@functools.cache
@kept
def _blank(dtype: torch.dtype, device: torch.device, learns: bool) -> Tensor:
    return torch.full((), torch.nan, dtype=dtype, device=device, requires_grad=learns)


def _plain(x: Any) -> Any:
    return x.gathered() if isinstance(x, Gathered) else x


def aggregate(x: Rows, reduce: str, targets: int) -> Tensor | None:
    """Returns sums, means, maxima or minima over the edges of each target node; None if the rows must be gathered."""
    graph, source, weight = x.graph, x.source, x.weight
    if x.side != "j":
        return None
    matrix = graph.matrix(targets, source.shape[0], source)
    if matrix is None:
        return _aggregate_few(x, reduce, targets) if weight is None and reduce in ("sum", "mean") else None
    with torch.autocast(source.device.type, enabled=False):
        by_head = weight is not None and weight.dim() == 2
        out = functions.spmm(matrix, source if by_head else source.reshape(source.shape[0], -1), weight, reduce)
    graph.report(f"spmm {reduce}" if weight is None else f"weighted spmm {reduce}", source)
    return x._shown(out)


def _aggregate_few(x: Rows, reduce: str, targets: int) -> Tensor | None:
    """Returns sums or means over the edges of each target node by torch."""
    graph, source = x.graph, x.source
    fresh = None if transformed() else graph.fresh(targets, source.shape[0])
    if fresh is None:
        return None
    with torch.autocast(source.device.type, enabled=False):
        out = of_few_edges(fresh, source.reshape(source.shape[0], -1), reduce)
    return None if out is None else x._shown(out)


def _times(x: Any, y: Any) -> Gathered | None:
    """x * y if the product is known without gathering."""
    if not isinstance(x, Gathered):
        x, y = y, x
    if not isinstance(x, Rows):
        return None
    if isinstance(y, Rows):
        return _times_rows(x, y)
    if isinstance(y, Gathered) or not isinstance(y, Tensor):
        return None
    weight = _weights(x, y)
    if weight is None or weight.dtype != x.source.dtype or weight.device != x.source.device:
        return None
    if x.weight is not None:
        if x.weight.dim() != weight.dim():
            return None
        weight = weight * x.weight
    if weight.dim() == 2 and x.source.shape[1:] != x.inner:
        return None
    return x._like(x.source, weight)


def _times_rows(x: Rows, y: Rows) -> Gathered | None:
    if x.graph is not y.graph or x.weight is not None or y.weight is not None:
        return None
    if x.source.shape[1:] != y.source.shape[1:] or x.source.dtype != y.source.dtype:
        return None
    if x.axis != y.axis or x.inner != y.inner or x.inner != x.source.shape[1:]:
        return None
    if x.side == y.side:
        return x._like(x.source * y.source, None) if x.source.shape == y.source.shape else None
    if x.axis != 0:
        return None
    return _pairs(x.graph, x.source, y.source) if x.side == "i" else _pairs(x.graph, y.source, x.source)


def _weights(x: Rows, y: Tensor) -> Tensor | None:
    """y as [edges] or [edges, heads], if it is one number per edge, or per edge and head."""
    places = (1,) * (len(x.inner) + 1 - y.dim()) + tuple(y.shape)
    if len(places) != len(x.inner) + 1 or places[x.axis] != x.graph.edges or y.dim() < 2:
        return None
    others = places[: x.axis] + places[x.axis + 1 :]
    if all(size == 1 for size in others):
        return y.reshape(-1)
    if x.axis == 0 and len(others) == 2 and others[1] == 1 and others[0] == x.inner[0]:
        return y.reshape(y.shape[0], others[0])
    return None


def _sum(x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor | None:
    """Dot products of rows, if x is a product of them."""
    if not isinstance(x, Pairs) or dtype is not None or x.x.dim() not in (2, 3):
        return None
    last = x.x.dim() - 1
    if dim not in (last, -1, (last,), (-1,), [last], [-1]):
        return None
    matrix = x.graph.matrix(x.x.shape[0], x.y.shape[0], x.x)
    if matrix is None:
        return None
    with torch.autocast(x.x.device.type, enabled=False):
        out = functions.sddmm(matrix, x.x, x.y)
    x.graph.report("sddmm", x.x)
    return out.unsqueeze(-1) if keepdim else out


def _view(x: Any, *shape: Any) -> Gathered | None:
    """x with other inner dimensions. The first one must stay."""
    if not isinstance(x, Rows) or x.axis != 0:
        return None
    sizes = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    if len(sizes) < 2 or not all(isinstance(size, int) for size in sizes):
        return None
    try:
        with torch._C.DisableTorchFunctionSubclass():
            shown = torch.empty((x.graph.edges, *x.inner), device="meta").reshape(sizes)
            kept = torch.empty((x.graph.edges + 1, *x.inner), device="meta")
            same = kept.reshape(-1 if sizes[0] == -1 else x.graph.edges + 1, *shown.shape[1:]).shape[0]
    except RuntimeError:
        return None
    if shown.shape[0] != x.graph.edges or same != x.graph.edges + 1:
        return None
    inner = tuple(shown.shape[1:])
    if x.weight is not None and x.weight.dim() == 2:
        return x._like(x.source, x.weight, inner)
    return x._like(x.source.reshape(x.source.shape[0], *inner), x.weight, inner)


def softmax(graph: Graph, scores: Tensor, targets: int) -> Tensor | None:
    """Softmax over the edges of each target node of scores [edges] or [edges, heads]."""
    if scores.dim() not in (1, 2) or (matrix := graph.matrix(targets, None, scores)) is None:
        return None
    with torch.autocast(scores.device.type, enabled=False):
        out = functions.softmax(matrix, scores)
    graph.report("softmax", scores)
    return out


_OF_SHAPE = {
    Tensor.size,
    Tensor.dim,
    Tensor.numel,
    Tensor.nelement,
    Tensor.__len__,
    Tensor.is_floating_point,
    Tensor.new_zeros,
    Tensor.new_ones,
    Tensor.new_empty,
    Tensor.new_full,
    torch.is_floating_point,
    *(
        getattr(Tensor, name).__get__
        for name in (
            "shape dtype device layout ndim is_cuda is_sparse is_sparse_csr is_quantized is_meta requires_grad"
        ).split()
    ),
}
_ANSWERS: dict[Any, Function] = {
    torch.mul: _times,
    torch.multiply: _times,
    Tensor.mul: _times,
    Tensor.multiply: _times,
    Tensor.__mul__: _times,
    Tensor.__rmul__: _times,
    torch.sum: _sum,
    Tensor.sum: _sum,
    Tensor.view: _view,
    Tensor.reshape: _view,
}
