"""Layers of PyG: which of their functions are replaced in a scope, and by what."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from ..reductions import NAMES
from ..sources import is_sparse_tensor
from . import rows, sparse_tensors
from .graphs import FIRST_USE, Graph, is_worthwhile
from .matrices import Cache, key_of, usable
from .state import Patch, current

Function = Callable[..., Any]


# Results that depend on the edges alone are kept: edges with added loops would be new ones in each step.
_KEPT = ("gcn_norm", "add_self_loops", "add_remaining_self_loops", "remove_self_loops", "get_laplacian")
_results = Cache(64)


def patches() -> Iterator[Patch]:
    """Returns the patches for PyG, if it has been imported."""
    message_passing = sys.modules.get("torch_geometric.nn.conv.message_passing")
    aggregation = sys.modules.get("torch_geometric.nn.aggr.base")
    if message_passing is None or aggregation is None:
        return
    layer, reducer = message_passing.MessagePassing, aggregation.Aggregation
    for owner, name, make in (
        (layer, "_check_input", _check_input),
        (layer, "_index_select", _index_select),
        (reducer, "reduce", _reduce),
    ):
        original = getattr(owner, name)
        yield Patch(owner, name, original, make(original))
    edge_index = sys.modules["torch_geometric.edge_index"]
    yield Patch(edge_index, "_spmm", edge_index._spmm, _edge_index_spmm(edge_index._spmm))
    utilities = sys.modules["torch_geometric.utils"]
    convolution = sys.modules.get("torch_geometric.nn.conv.gcn_conv")
    replaced: dict[int, tuple[Function, Function]] = {}
    makers = {"softmax": _softmax, "scatter": _scatter, "spmm": _spmm, **dict.fromkeys(_KEPT, _keeping)}
    for name, maker in makers.items():
        original = getattr(utilities, name, None) or getattr(convolution, name, None)
        if original is not None:
            replaced[id(original)] = original, maker(original)
    for path, module in list(sys.modules.items()):
        if path.startswith("torch_geometric.nn.conv."):
            for name, value in list(vars(module).items()):
                if id(value) in replaced and replaced[id(value)][0] is value:
                    yield Patch(module, name, value, replaced[id(value)][1])


def _wraps(original: Function) -> Callable[[Function], Function]:
    """A function that is the original outside of scopes and in compiled code."""

    def wrap(function: Function) -> Function:
        @functools.wraps(original)
        def call(*arguments: Any, **named: Any) -> Any:
            if torch.compiler.is_compiling() or current.scope is None:
                return original(*arguments, **named)
            return function(*arguments, **named)

        return call

    return wrap


def _check_input(original: Function) -> Function:
    """Remembers the edges of a propagation."""

    @_wraps(original)
    def check_input(self: Any, edge_index: Any, size: Any) -> Any:
        result = original(self, edge_index, size)
        current.graph = None
        current.layer = type(self).__name__
        edges = _dense(edge_index)
        if edges is not None and edges.shape[1] > 0 and not self.explain and self.decomposed_layers == 1:
            if is_worthwhile(edges):
                i = 1 if self.flow == "source_to_target" else 0
                current.graph = Graph(edges, i, functools.partial(_report, current.layer))
            else:
                _report(current.layer, FIRST_USE)
        return result

    return check_input


def _dense(x: Any) -> Tensor | None:
    """x as a dense tensor of no subclass: the numbers of PyG's EdgeIndex and Index. None if it is sparse."""
    if type(x) is not Tensor:
        x = x.as_tensor() if hasattr(x, "as_tensor") else None
    return x if x is not None and x.layout == torch.strided else None


def _report(layer: str, what: str, _x: Any = None) -> None:
    if current.scope is not None:
        current.scope._count(layer, what)


def _index_select(original: Function) -> Function:
    """Features of nodes at one end of the edges, not gathered yet."""

    @_wraps(original)
    def index_select(self: Any, src: Tensor, index: Tensor) -> Tensor:
        graph: Graph | None = current.graph
        if graph is not None and type(src) in _PLAIN and src.dim() >= 2 and usable(src):
            side = graph.side(_dense(index))
            axis = self.node_dim % src.dim() if -src.dim() <= self.node_dim < src.dim() else 2
            if side is not None and axis < 2:
                return rows.rows(graph, src, side, None, axis)
        gathered: Tensor = original(self, src, index)
        return gathered

    return index_select


_PLAIN = (Tensor, torch.nn.Parameter)


def _reduce(original: Function) -> Function:
    """Aggregates rows that have not been gathered."""

    @_wraps(original)
    def reduce(
        self: Any,
        x: Tensor,
        index: Tensor | None = None,
        ptr: Tensor | None = None,
        dim_size: int | None = None,
        dim: int = -2,
        reduce: str = "sum",
    ) -> Tensor:
        if isinstance(x, rows.Rows):
            out = _aggregate(x, index, dim, dim_size, reduce)
            if out is not None:
                return out
            x = x.gathered()
        result: Tensor = original(self, x, index, ptr, dim_size, dim, reduce)
        return result

    return reduce


def _scatter(original: Function) -> Function:
    """Aggregation of a layer that calls PyG's `scatter`."""

    @_wraps(original)
    def scatter(src: Tensor, index: Tensor, dim: int = 0, dim_size: int | None = None, reduce: str = "sum") -> Tensor:
        if isinstance(src, rows.Rows):
            out = _aggregate(src, index, dim, dim_size, reduce)
            if out is not None:
                return out
            src = src.gathered()
        result: Tensor = original(src, index, dim, dim_size, reduce)
        return result

    return scatter


def _aggregate(x: rows.Rows, index: Tensor | None, dim: int, dim_size: int | None, reduce: str) -> Tensor | None:
    how = NAMES.get(reduce)
    if how is None:
        x.graph.report(f"reduction {reduce}", x.source)
        return None
    if dim_size is None or dim not in (x.axis, x.axis - x.dim()) or x.graph.side(_dense(index)) != "i":
        return None
    return rows.aggregate(x, how, dim_size)


def _edge_index_spmm(original: Function) -> Function:
    """Products of PyG's EdgeIndex."""

    @_wraps(original)
    def spmm(
        input: Any, other: Tensor, value: Tensor | None = None, reduce: str = "sum", transpose: bool = False
    ) -> Tensor:
        how, edges = NAMES.get(reduce), _dense(input)
        plain = type(other) in _PLAIN and other.dim() == 2 and usable(other)
        sorted_by = input.is_sorted_by_col if transpose else input.is_sorted_by_row
        if how is not None and edges is not None and edges.shape[1] > 0 and plain and sorted_by:
            if value is None or value.dtype == other.dtype and value.dim() == 1:
                i = 1 if transpose else 0
                graph = Graph(edges, i, functools.partial(_report, "EdgeIndex"))
                out = rows.aggregate(rows.rows(graph, other, "j", value), how, input.get_sparse_size(i))
                if out is not None:
                    return out
        result: Tensor = original(input, other, value, reduce, transpose)
        return result

    return spmm


def _softmax(original: Function) -> Function:
    """Softmax over the edges of each node."""

    @_wraps(original)
    def softmax(
        src: Tensor,
        index: Tensor | None = None,
        ptr: Tensor | None = None,
        num_nodes: int | None = None,
        dim: int = 0,
    ) -> Tensor:
        graph: Graph | None = current.graph
        if graph is not None and index is not None and num_nodes is not None and dim == 0 and type(src) is Tensor:
            if src.shape[0] == graph.edges and graph.side(_dense(index)) == "i" and usable(src):
                out = rows.softmax(graph, src, num_nodes)
                if out is not None:
                    return out
        result: Tensor = original(src, index, ptr, num_nodes, dim)
        return result

    return softmax


def _spmm(original: Function) -> Function:
    """Products of SparseTensors, of which PyG makes tensors of torch in each call."""

    @_wraps(original)
    def spmm(src: Any, other: Tensor, reduce: str = "sum") -> Tensor:
        product = sparse_tensors.multiply(src, other, reduce)
        result: Tensor = original(src, other, reduce) if product is None else product
        return result

    return spmm


def _keeping(original: Function) -> Function:
    """A function of the edges whose result is kept for the same arguments. If weights learn, the edges of the result
    are kept, which do not depend on them."""

    @_wraps(original)
    def keeping(*arguments: Any, **named: Any) -> Any:
        given = (*arguments, *named.values())
        tensors = [tensor for x in given for tensor in _tensors_of(x)]
        plain = all(type(x) is Tensor and x.layout == torch.strided for x in tensors)
        inference = torch.is_inference_mode_enabled()
        if not plain or not tensors or inference or any(x.is_inference() for x in tensors):
            return original(*arguments, **named)
        learns = any(x.requires_grad for x in tensors)
        key = (original, learns, tuple(named), *(_argument_key(x, learns) for x in given))
        try:
            found = _results.find(key)
        except TypeError:  # an argument cannot be a key
            return original(*arguments, **named)
        if found is not None and found[1] != _versions(found[0]):
            found = None
        if found is not None and not learns:
            return found[0]
        result = original(*arguments, **named)
        if not learns:
            _results.keep(key, tensors, (result, _versions(result)))
        elif isinstance(result, tuple) and isinstance(result[0], Tensor) and result[0].dtype == torch.int64:
            if found is not None:
                return (found[0], *result[1:])
            _results.keep(key, [x for x in tensors if not x.is_floating_point()], (result[0], _versions(result[0])))
        return result

    return keeping


def _argument_key(x: Any, learns: bool) -> Any:
    """Identifies an argument; if weights learn, floating-point tensors by their type and shape alone."""
    if isinstance(x, Tensor):
        return ("shape", x.dtype, x.shape) if learns and x.is_floating_point() else ("tensor", key_of(x))
    if is_sparse_tensor(x):
        return ("SparseTensor", tuple(x.sparse_sizes()), *(_argument_key(one, learns) for one in _tensors_of(x)))
    return type(x), x


def _tensors_of(x: Any) -> tuple[Tensor, ...]:
    if isinstance(x, Tensor):
        return (x,)
    return sparse_tensors.arrays_of(x) if is_sparse_tensor(x) else ()


def _versions(result: Any) -> tuple[Any, ...]:
    """Versions of the tensors of a result, which differ once someone has written to it."""
    found = result if isinstance(result, tuple | list) else (result,)
    return tuple(key_of(tensor) for x in found for tensor in _tensors_of(x))
