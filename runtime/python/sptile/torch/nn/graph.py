"""Graphs of layers: a SparseMatrix, or an edge_index, whose matrix is cached."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils.weak import WeakTensorKeyDictionary

from ...errors import ArgumentTypeError, UnsupportedError, UsageError
from ..edges import EdgeMatrix
from ..functions import attention
from ..handle import Handle, refuse_capture
from ..matrix import SparseMatrix, product_type
from ..operators import unchanged
from ..pattern import apart, pattern_of_pointers
from ..sources import Source, is_sparse_tensor, source_of

Graph = SparseMatrix | Tensor
Features = Tensor | tuple[Tensor, Tensor | None]
Size = tuple[int | None, int | None] | None


class GraphLayer(nn.Module):
    """A layer that takes node features and a graph."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        for x in (*arguments, *named.values()):
            if isinstance(x, torch.fx.Proxy) and type(x.tracer).__module__ == "torch_geometric.nn.fx":
                raise UnsupportedError(
                    f"{type(self).__name__} is not a MessagePassing layer, which to_hetero requires; use "
                    "torch_geometric.nn.HeteroConv with one layer per edge type"
                )
        return super().__call__(*arguments, **named)

    def __repr__(self) -> str:
        """Returns the name and the main arguments in one line, as in PyG."""
        return f"{type(self).__name__}({self.extra_repr()})"

    def reset_parameters(self) -> None:
        """Initializes the parameters of the modules inside, and a bias with 0."""
        reset_modules(self)
        bias = getattr(self, "bias", None)
        if bias is not None:
            nn.init.zeros_(bias)


def reset_modules(module: nn.Module) -> None:
    """Calls `reset_parameters` of the modules inside a module, also inside lists."""
    for inner in module.children():
        reset = getattr(inner, "reset_parameters", None)
        if reset is None:
            reset_modules(inner)
        else:
            reset()


def check_features(x: object, layer: str, batches: bool = True) -> Tensor:
    """Refuses x unless it is [nodes, n], or with `batches` [..., nodes, n]."""
    wanted = "[..., nodes, n]" if batches else "[nodes, n]"
    if isinstance(x, tuple | list):
        raise ArgumentTypeError(f"{layer}: x must be one tensor {wanted}, got a pair; the layer has one set of nodes")
    if not isinstance(x, Tensor):
        raise ArgumentTypeError(f"{layer}: x must be a tensor {wanted}, got {type(x).__name__}")
    if x.dim() < 2 or x.dim() > 2 and not batches:
        raise UsageError(f"{layer}: x must have shape {wanted}, got {list(x.shape)}")
    return x


def node_sets(
    x: Features, edge_index: Graph, size: Size, layer: str, batches: bool = True, weight: Tensor | None = None
) -> tuple[Tensor, Tensor | None, SparseMatrix]:
    """Features of the source nodes and of the target nodes (None: there are none), and the targets x sources
    matrix.

    x     a tensor, where both are the same nodes, or a pair
    size  numbers of source and target nodes, each may be None. Without it, and without features of the
          targets, an edge_index has the same number of targets and sources.
    """
    single = not isinstance(x, tuple | list)
    if not single and len(x) != 2:
        raise UsageError(f"{layer}: x must be a tensor or a pair (sources, targets), got a tuple of {len(x)}")
    source, target = (x, x) if single else x
    source = check_features(source, layer, batches)
    if target is not None and not single:
        target = check_features(target, layer, batches)
    if size is not None and (not isinstance(size, Sequence) or len(size) != 2):
        raise UsageError(f"{layer}: size must be a pair (number of sources, number of targets), got {size!r}")
    sources, targets = size or (None, None)
    edge_index, cols = graph_of(edge_index), source.shape[-2]
    if target is not None:
        rows = target.shape[-2]
    elif isinstance(edge_index, SparseMatrix):
        rows = edge_index.shape[0]
    else:
        rows = cols if targets is None else targets
    if sources not in (None, cols) or targets not in (None, rows):
        raise UsageError(f"{layer}: size is {tuple(size or ())}, but there are {cols} sources and {rows} targets")
    return source, target, matrix_of(edge_index, rows, cols, weight)


# Matrices of the tensors that were last seen, as long as these live: layers of one model share them. With each
# its rows and columns, and a copy of the edges.
_seen: list[tuple[weakref.ref[Tensor], tuple[int, int, Tensor], SparseMatrix]] = []
_MOST_SEEN = 8
# Patterns of weights, cached as long as their column tensors live: with the other source tensors, and copies.
_of_weights: Any = WeakTensorKeyDictionary()
_lock = threading.RLock()


def _forget(reference: weakref.ref[Tensor]) -> None:
    with _lock:
        _seen[:] = [seen for seen in _seen if seen[0] is not reference]


def _copy(ids: Tensor) -> Tensor:
    return ids.clone(memory_format=torch.contiguous_format)


def matrix_of_edges(edge_index: Tensor, rows: int, cols: int) -> SparseMatrix:
    """Returns the matrix of `matrix_of`, rebuilt if edge_index is another tensor or has other edges."""
    with _lock:
        for place, (reference, (*shape, kept), matrix) in enumerate(_seen):
            if reference() is edge_index and shape == [rows, cols]:
                if unchanged(kept, edge_index):
                    return matrix
                del _seen[place]
                break
        refuse_capture("cannot create the matrix of edge_index", edge_index.device)
        matrix: SparseMatrix
        with apart():
            edges = _copy(edge_index)
            if type(edges) is Tensor and edges.is_cpu:
                matrix = EdgeMatrix(edges, rows, cols)
            else:
                matrix = SparseMatrix._of_entries(edges[1], edges[0], None, (rows, cols))
        del _seen[: 1 - _MOST_SEEN]
        _seen.append((weakref.ref(edge_index, _forget), (rows, cols, edges), matrix))
    return matrix


# Matrices of sparse tensors, like those of edges: with their shapes, and copies of their arrays.
_sparse_seen: list[tuple[weakref.ref[Any], Any, tuple[Tensor, ...], SparseMatrix]] = []


def _forget_sparse(reference: weakref.ref[Any]) -> None:
    with _lock:
        _sparse_seen[:] = [seen for seen in _sparse_seen if seen[0] is not reference]


def graph_of(edge_index: Any) -> Any:
    """Returns the matrix of an adjacency matrix (targets x sources) in a sparse tensor of torch or a SparseTensor of
    torch_sparse, and other arguments as they are. The matrix is kept as long as the tensor lives and holds the same
    numbers."""
    dense = edge_index.layout == torch.strided if isinstance(edge_index, Tensor) else not is_sparse_tensor(edge_index)
    if dense or isinstance(edge_index, SparseMatrix):
        return edge_index
    if torch.compiler.is_compiling():
        raise UnsupportedError(
            "sparse tensors are not supported in compiled code; pass SparseMatrix.from_torch(edge_index)"
        )
    source = source_of(edge_index)
    values = source.values
    learns = values is not None and values.requires_grad
    arrays = (source.row, source.col) if values is None or learns else (source.row, source.col, _bits(values))
    with _lock:
        for place, (reference, shape, kept, matrix) in enumerate(_sparse_seen):
            if reference() is edge_index:
                if shape == source.shape and len(kept) == len(arrays) and all(map(unchanged, kept, arrays)):
                    return matrix.with_values(values) if learns else matrix
                del _sparse_seen[place]
                break
        refuse_capture("cannot create the matrix of a sparse tensor", source.col.device)
        with apart():
            copies = tuple(map(_copy, arrays))
            fixed = None if values is None or learns else copies[2].view(values.dtype)
            row, col = copies[:2]
            matrix = SparseMatrix._of_source(Source(row, col, fixed, source.shape, source.has_pointers))
        del _sparse_seen[: 1 - _MOST_SEEN]
        _sparse_seen.append((weakref.ref(edge_index, _forget_sparse), source.shape, copies, matrix))
    return matrix.with_values(values) if learns else matrix


def types_of(edge_index: Any) -> tuple[Any, Any]:
    """Returns the pattern of a SparseTensor as a graph, and its values, the types of the edges."""
    if not is_sparse_tensor(edge_index) or (types := edge_index.csr()[2]) is None:
        raise UsageError("edge_type is required; only a SparseTensor has the types of edges as values")
    crow, col, _ = edge_index.csr()
    matrix = matrix_of_pointers(crow, col, edge_index.sparse_sizes()[1])
    return matrix, types


def refuse_values(edge_index: Any, a: SparseMatrix, layer: str) -> None:
    """Refuses the values of a sparse tensor, whose matrix is `a`, in a layer with edge features: PyG takes them as
    such."""
    if a is not edge_index and a._given_values() is not None:
        raise UnsupportedError(
            f"{layer}: the values of a sparse tensor are not used as edge features; pass edge_index and edge_attr"
        )


def _bits(values: Tensor) -> Tensor:
    """Returns values as integers, which compare equal if they have the same bits."""
    return values.detach().view({2: torch.int16, 4: torch.int32, 8: torch.int64}[values.element_size()])


def matrix_of_pointers(
    crow: Tensor, col: Tensor, cols: int, format: str = "auto", kernels: str = ""
) -> SparseMatrix:
    """Returns the pattern of CSR arrays, rebuilt if they are other tensors or have other numbers."""
    shape = (crow.numel() - 1, cols)
    with _lock:
        of, crow_kept, col_kept, matrix = _of_weights.get(col) or (None,) * 4
        if of != (shape, format, kernels) or not (unchanged(crow_kept, crow) and unchanged(col_kept, col)):
            refuse_capture("cannot create the matrix of the weights", col.device)
            with apart():
                pattern, order = pattern_of_pointers(_copy(crow), _copy(col), cols)
                matrix = SparseMatrix._of(Handle(pattern, None, format, kernels), order, None)
                _of_weights[col] = (shape, format, kernels), _copy(crow), _copy(col), matrix
    found: SparseMatrix = matrix
    return found


def matrix_of(edge_index: Graph, rows: int, cols: int, weight: Tensor | None = None) -> SparseMatrix:
    """The rows x cols matrix of a graph: row i has the edges that lead to node i. The matrix of a tensor
    [2, edges] is kept as long as the tensor lives and holds the same edges."""
    edge_index = graph_of(edge_index)
    if isinstance(edge_index, SparseMatrix):
        if weight is not None:
            raise UsageError(
                "edge weights require an edge_index; a sparse matrix has its own, see SparseMatrix.with_values"
            )
        if tuple(edge_index.shape) != (rows, cols):
            raise UsageError(
                f"the matrix must have shape {[rows, cols]} for these features, got {list(edge_index.shape)}"
            )
        return edge_index
    if not isinstance(edge_index, Tensor) or edge_index.dim() != 2 or edge_index.shape[0] != 2:
        raise ArgumentTypeError("edge_index must be a SparseMatrix, a sparse tensor, or a tensor [2, edges]")
    if not (weight is None or isinstance(weight, Tensor)):
        raise ArgumentTypeError(f"edge weights must be a tensor [edges], got {type(weight).__name__}")
    if torch.compiler.is_compiling():
        matrix = SparseMatrix._of_graph(edge_index, rows, cols)
    else:
        matrix = matrix_of_edges(edge_index, rows, cols)
    return matrix if weight is None else matrix.with_values(weight.reshape(-1))


def normalized(a: SparseMatrix, add_self_loops: bool, fill_value: float, dtype: torch.dtype) -> SparseMatrix:
    """Works like gcn_norm, with values of a type; cached if values do not require gradients."""
    if a.is_normalized:
        return a

    def make() -> SparseMatrix:
        return a.gcn_norm(add_self_loops, fill_value=fill_value, dtype=dtype)

    if a.requires_grad:
        return make()
    return a._derive(f"gcn_norm {add_self_loops} {fill_value} {dtype}", make)


def normalized_graph(
    x: Tensor, edge_index: Graph, weight: Tensor | None, add_self_loops: bool, normalize: bool = True
) -> SparseMatrix:
    """Returns the matrix of a graph of the nodes of x [..., nodes, n], with `normalize` that of gcn_norm."""
    nodes = x.shape[-2]
    a = matrix_of(edge_index, nodes, nodes, weight)
    return normalized(a, add_self_loops, 1.0, product_type(x, x.device.type)) if normalize else a


class Edges(NamedTuple):
    """Edges with attention weights in PyG's order: the given edges, in their order, then added loops."""

    matrix: SparseMatrix  # its entries are these edges, in this order
    row: Tensor
    col: Tensor
    given: int  # how many edges were given
    kept: Tensor | None  # ids of the given edges among them; None: all
    loops: int  # how many loops follow
    left_out: Tensor | None = None  # in compiled code: given edges with zero weight, bool [given]


def edges_of(a: SparseMatrix, add_self_loops: bool) -> Edges:
    """Returns the edges of a graph; `add_self_loops` replaces given loops with one loop per node. Cached with the
    matrix. In compiled code the given loops remain among the edges, and `left_out` marks them."""
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
    """Returns the matrix whose entries have attention weights, and the bias of their scores or None. In compiled
    code given loops are among the entries, with zero weight."""
    if not add_self_loops:
        return a, None
    if torch.compiler.is_compiling() and "attended" not in a._derived:
        looped, loop, last = a._compiled_loops(*a.places())
        masks = torch.where(loop, -torch.inf, 0.0)
        return looped, torch.cat([masks, masks.new_zeros(last.shape[0])])
    return a._derive("attended", lambda: edges_of(a, True).matrix if repeats(a) else a.with_loops()), None


def attend(a: SparseMatrix, q: Tensor, k: Tensor, v: Tensor, add_self_loops: bool, **settings: Any) -> Tensor:
    """Computes attention over a graph, with or without added loops."""
    entries, masks = attended(a, add_self_loops)
    bias = None if masks is None else masks.to(v.dtype)
    return attention(entries, q, k, v, bias=bias, **settings)
