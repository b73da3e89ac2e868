"""The graph of a layer: a SparseMatrix, or an edge_index, whose matrix is made once; sums and means over
neighbours."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from ...errors import UnsupportedError, UsageError
from ..functions import _cast, attention, spmm
from ..handle import capturing, refuse_capture
from ..matrix import SparseMatrix
from ..pattern import apart

Graph = SparseMatrix | Tensor
Features = Tensor | tuple[Tensor, Tensor | None]
Size = tuple[int | None, int | None] | None


class GraphLayer(nn.Module):
    """A layer that takes node features and a graph."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        for x in (*arguments, *named.values()):
            if isinstance(x, torch.fx.Proxy) and type(x.tracer).__module__ == "torch_geometric.nn.fx":
                raise UnsupportedError(
                    f"{type(self).__name__} is not a MessagePassing layer, which to_hetero needs; "
                    "use torch_geometric.nn.HeteroConv with a layer for each edge type"
                )
        return super().__call__(*arguments, **named)


def check_features(x: object, layer: str, batches: bool = True) -> Tensor:
    """Refuses x unless it is [nodes, n], or with `batches` [..., nodes, n]."""
    wanted = "[..., nodes, n]" if batches else "[nodes, n]"
    if isinstance(x, tuple | list):
        raise UsageError(f"{layer}: x is a pair; pass one tensor {wanted}, this layer has one set of nodes")
    if not isinstance(x, Tensor):
        raise UsageError(f"{layer}: x is of type {type(x).__name__}; pass a tensor {wanted}")
    if x.dim() < 2 or x.dim() > 2 and not batches:
        raise UsageError(f"{layer}: x is {list(x.shape)}; pass {wanted}")
    return x


def node_sets(
    x: Features, edge_index: Graph, size: Size, layer: str, batches: bool = True
) -> tuple[Tensor, Tensor | None, SparseMatrix]:
    """Features of the source nodes and of the target nodes (None: there are none), and the targets x sources
    matrix.

    x     a tensor, where both are the same nodes, or a pair
    size  numbers of source and target nodes, each may be None. Without it, and without features of the
          targets, an edge_index has as many targets as sources.
    """
    single = not isinstance(x, tuple | list)
    if not single and len(x) != 2:
        raise UsageError(f"{layer}: x is a tuple of {len(x)}; pass a tensor, or a pair (sources, targets)")
    source, target = (x, x) if single else x
    source = check_features(source, layer, batches)
    if target is not None and not single:
        target = check_features(target, layer, batches)
    if size is not None and (not isinstance(size, Sequence) or len(size) != 2):
        raise UsageError(f"{layer}: size = {size!r}; pass a pair (number of sources, number of targets)")
    sources, targets = size or (None, None)
    cols = source.shape[-2]
    if target is not None:
        rows = target.shape[-2]
    elif isinstance(edge_index, SparseMatrix):
        rows = edge_index.shape[0]
    else:
        rows = cols if targets is None else targets
    if sources not in (None, cols) or targets not in (None, rows):
        raise UsageError(f"{layer}: size = {tuple(size or ())}; there are {cols} sources and {rows} targets")
    return source, target, matrix_of(edge_index, rows, cols)


def unchanged(kept: Tensor, now: Tensor) -> bool:
    """True if a tensor of ids equals the copy that was kept of it: versions and addresses miss changes
    through `.data` and through memory that NumPy shares. O(ids), on a CUDA device with a synchronization;
    while a graph is captured, ids are taken to be unchanged."""
    if kept.shape != now.shape or kept.dtype != now.dtype or kept.device != now.device:
        return False
    if kept.device.type != "cpu" or type(now) is not Tensor:
        return capturing() or torch.equal(kept, now)
    return np.array_equal(kept.numpy(), now.numpy())


class _Seen(NamedTuple):
    """A matrix, and what it was made of: the first list of ids, copies of all lists, sizes and the like."""

    first: weakref.ref[Tensor]
    copies: tuple[Tensor, ...]
    key: tuple[Any, ...]
    matrix: SparseMatrix


# Matrices of the tensors that were last seen, as long as these live: layers of one model share them.
_seen: list[_Seen] = []
_MOST_SEEN = 8
_lock = threading.RLock()


def _forget(reference: weakref.ref[Tensor]) -> None:
    with _lock:
        _seen[:] = [seen for seen in _seen if seen.first is not reference]


def remembered(ids: tuple[Tensor, ...], make: Callable[..., SparseMatrix], *key: Any) -> SparseMatrix:
    """make(*copies of ids, *key), once for ids that stay as they are."""
    with _lock:
        for place, seen in enumerate(_seen):
            if seen.first() is ids[0] and seen.key == (make, *key) and len(seen.copies) == len(ids):
                if all(unchanged(*pair) for pair in zip(seen.copies, ids, strict=True)):
                    return seen.matrix
                del _seen[place]
                break
        refuse_capture("the matrix of a layer is not there yet", ids[0].device)
        with apart():
            copies = tuple(x.clone(memory_format=torch.contiguous_format) for x in ids)
            matrix = make(*copies, *key)
        del _seen[: 1 - _MOST_SEEN]
        _seen.append(_Seen(weakref.ref(ids[0], _forget), copies, (make, *key), matrix))
        return matrix


def matrix_of_edges(edge_index: Tensor, rows: int, cols: int) -> SparseMatrix:
    return remembered((edge_index,), _of_edges, rows, cols)


def _of_edges(edge_index: Tensor, rows: int, cols: int) -> SparseMatrix:
    return SparseMatrix._of_entries(edge_index[1], edge_index[0], None, (rows, cols))


def matrix_of_pointers(crow: Tensor, col: Tensor, cols: int, format: str = "auto") -> SparseMatrix:
    return remembered((col, crow), _of_pointers, cols, format)


def _of_pointers(col: Tensor, crow: Tensor, cols: int, format: str) -> SparseMatrix:
    return SparseMatrix(crow, col, None, (crow.numel() - 1, cols), format=format)


def matrix_of(edge_index: Graph, rows: int, cols: int, weight: Tensor | None = None) -> SparseMatrix:
    """The rows x cols matrix of a graph: row i has the edges that lead to node i. The matrix of a tensor
    [2, edges] is kept as long as the tensor lives and holds the same edges."""
    if isinstance(edge_index, SparseMatrix):
        if weight is not None:
            raise UsageError(
                "edge weights are given beside a SparseMatrix, which has its own: use with_values"
            )
        if tuple(edge_index.shape) != (rows, cols):
            raise UsageError(
                f"the matrix is {list(edge_index.shape)}, the features are of {rows} x {cols} nodes"
            )
        return edge_index
    if isinstance(edge_index, Tensor) and edge_index.layout != torch.strided:
        raise UsageError(f"edge_index is {edge_index.layout}; pass SparseMatrix.from_torch(edge_index)")
    if not isinstance(edge_index, Tensor) or edge_index.dim() != 2 or edge_index.shape[0] != 2:
        raise UsageError("edge_index is neither a SparseMatrix nor a tensor [2, edges]")
    if not (weight is None or isinstance(weight, Tensor)):
        raise UsageError(f"edge weights are of type {type(weight).__name__}; pass a tensor [edges]")
    if torch.compiler.is_compiling():
        matrix = SparseMatrix._of_graph(edge_index, rows, cols)
    else:
        matrix = matrix_of_edges(edge_index, rows, cols)
    return matrix if weight is None else matrix.with_values(weight.reshape(-1))


def wide(dtype: torch.dtype) -> torch.dtype:
    """The type in which sums of numbers of a type are formed: float32, or float64 of float64."""
    return torch.promote_types(dtype, torch.float32)


def normalized(a: SparseMatrix, add_self_loops: bool, fill_value: float, dtype: torch.dtype) -> SparseMatrix:
    """As gcn_norm, with values of a type; kept where values do not learn."""
    if a.is_normalized:
        return a

    def make() -> SparseMatrix:
        formed = wide(torch.promote_types(a.dtype, dtype))
        return a.gcn_norm(add_self_loops, fill_value=fill_value, dtype=formed).to(dtype)

    if a.requires_grad:
        return make()
    return a._derive(f"gcn_norm {add_self_loops} {fill_value} {dtype}", make)


def unweighted(a: SparseMatrix) -> SparseMatrix:
    """The matrix with ones, or with how often an edge is there."""
    return a if a.values is None else a._derive("unweighted", lambda: a.with_values(None))


def propagate(a: SparseMatrix, x: Tensor) -> Tensor:
    """A x of x [..., nodes, n]."""
    if x.dim() == 2:
        return spmm(a, x)
    out = spmm(a, x.reshape(-1, *x.shape[-2:]).transpose(0, 1)).transpose(0, 1)
    return out.reshape(*x.shape[:-2], *out.shape[-2:])


def total(a: SparseMatrix, x: Tensor) -> Tensor:
    """Sums over neighbours, x [..., nodes, n]."""
    return propagate(unweighted(a), x)


def mean(a: SparseMatrix, x: Tensor) -> Tensor:
    """Means over neighbours, x [..., nodes, n], 0 where there are none. Sums are divided in float32 or wider;
    those of float16, which overflow, and of long rows are formed in a wider type as well."""
    if not torch.is_autocast_enabled(x.device.type):
        return _mean(a, x)
    x = _cast(a, x)  # type: ignore[assignment]
    with torch.autocast(x.device.type, enabled=False):
        return _mean(a, x)


def _mean(a: SparseMatrix, x: Tensor) -> Tensor:
    type_of_sums = wide(x.dtype)
    if torch.compiler.is_compiling() and "degrees" not in a._derived:
        degree, long = a.degrees().clamp(min=1), None  # which rows are long is not known here
    else:
        degree, long = a._derive("degrees", lambda: _degrees(a))
    sums = total(a, x.float() if x.dtype == torch.float16 else x).to(type_of_sums)
    if long is not None and x.dtype != torch.float64:
        rows, part = long
        sums = sums.index_copy(-2, rows, total(part, x.double()).to(type_of_sums))
    return (sums / degree.to(type_of_sums)).to(x.dtype)


# A float32 sum of more numbers loses the sixth digit: 10^6 times 0.1 is 1 % off.
_LONG = 4096


def _degrees(a: SparseMatrix) -> tuple[Tensor, tuple[Tensor, SparseMatrix] | None]:
    """Numbers of edges that lead to the nodes, at least 1, float64 [rows, 1]; ids of the rows of more than
    _LONG edges, and the matrix of these rows, or None."""
    row, col = a.places()
    degree = a.degrees()
    is_long = degree.squeeze(1) > _LONG
    rows = is_long.nonzero().flatten()
    long = None
    if rows.numel() > 0:
        chosen = is_long[row]
        place = (is_long.cumsum(0) - 1)[row[chosen]]
        long = rows, SparseMatrix._of_entries(place, col[chosen], None, (rows.numel(), a.shape[1]))
    return degree.clamp(min=1), long


class Edges(NamedTuple):
    """The edges that attention weighs, in PyG's order: those given, in their order, then added loops."""

    matrix: SparseMatrix  # its entries are these edges, in this order
    row: Tensor
    col: Tensor
    given: int  # how many edges were given
    kept: Tensor | None  # ids of the given edges among them; None: all
    loops: int  # how many loops follow
    left_out: Tensor | None = None  # in compiled code: the given edges that weigh nothing, bool [given]


def edges_of(a: SparseMatrix, add_self_loops: bool) -> Edges:
    """The edges of a graph; with `add_self_loops` given loops are left out and each node gets one. Kept with
    the matrix. In compiled code they are among the edges, and `left_out` says which they are."""
    return a._derive(f"edges {add_self_loops}", lambda: _edges(a, add_self_loops))


def _edges(a: SparseMatrix, add_self_loops: bool) -> Edges:
    row, col = a.places()
    if not add_self_loops:
        return Edges(a.with_values(None), row, col, row.numel(), None, 0)
    rows, cols = a.shape
    if torch.compiler.is_compiling():
        looped, loop, _last = a._compiled_loops(row, col)
        return Edges(looped, *looped.places(), row.numel(), None, min(rows, cols), loop)
    kept = (row != col).nonzero().flatten()
    loops = torch.arange(min(rows, cols), device=a.device)
    row, col = torch.cat([row[kept], loops]), torch.cat([col[kept], loops])
    matrix = SparseMatrix._of_entries(row, col, None, (rows, cols))
    return Edges(matrix, row, col, a._order.given, kept, loops.numel())


def repeats(a: SparseMatrix) -> bool:
    """True if an edge is there more than once, or may be, in compiled code."""
    return torch.compiler.is_compiling() or a._order.repeats


def attended(a: SparseMatrix, add_self_loops: bool) -> tuple[SparseMatrix, Tensor | None]:
    """The pattern whose entries attention weighs, and what is added to their scores: logarithms of how often
    each edge of a multigraph is there, as every one of them is weighed, float64; None: all are there once."""
    if torch.compiler.is_compiling() and f"attended {add_self_loops}" not in a._derived:
        return _compiled_attended(a, add_self_loops)
    return a._derive(f"attended {add_self_loops}", lambda: _attended(a, add_self_loops))


def _compiled_attended(a: SparseMatrix, add_self_loops: bool) -> tuple[SparseMatrix, Tensor | None]:
    """Of given edges, which the operator weighs one by one; given loops weigh nothing beside added ones."""
    if not add_self_loops:
        return a.with_values(None), None
    looped, loop, last = a._compiled_loops(*a.places())
    masks = torch.where(loop, -torch.inf, 0.0).double()
    return looped, torch.cat([masks, masks.new_zeros(last.shape[0])])


def _attended(a: SparseMatrix, add_self_loops: bool) -> tuple[SparseMatrix, Tensor | None]:
    entries = a.with_loops() if add_self_loops else a.entries()
    if not repeats(a):
        return entries, None
    return entries, _repeated(a, entries, add_self_loops)


def _repeated(a: SparseMatrix, entries: SparseMatrix, add_self_loops: bool) -> Tensor:
    cols = a.shape[1]
    counts = a._order.to_csr(torch.ones(a._order.given, dtype=torch.float64, device=a.device))
    if add_self_loops:
        row, col = a.pattern.row(), a.pattern.col.long()
        place = torch.searchsorted(entries.pattern.row() * cols + entries.pattern.col, row * cols + col)
        ones = torch.ones(entries.nnz, dtype=torch.float64, device=a.device)
        counts = ones.index_copy(0, place, torch.where(row == col, 1, counts))
    return counts.log()


def attend(
    a: SparseMatrix, q: Tensor, k: Tensor, v: Tensor, repeated: Tensor | None, **settings: Any
) -> Tensor:
    """attention over what `attended` gives. That of a multigraph is formed in float32 or wider: 16 bits would
    round the logarithms."""
    if repeated is None:
        return attention(a, q, k, v, **settings)
    dtype = _cast(a, v).dtype  # type: ignore[union-attr]
    formed = wide(dtype)
    with torch.autocast(v.device.type, enabled=False):
        q, k, v = q.to(formed), k.to(formed), v.to(formed)
        return attention(a, q, k, v, bias=repeated.to(formed), **settings).to(dtype)
