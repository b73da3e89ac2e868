"""Layers of PyG whose computation is that of a layer of `sptile.torch.nn`: in a scope they run its code with their
parameters, in compiled code as well."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from .. import nn as layers
from ..operators import transformed
from . import state
from .graphs import Graph
from .matrices import usable
from .state import Patch, current

Function = Callable[..., Any]


class View:
    """A layer of PyG with the methods of a layer of ours, which read its parameters and settings."""

    _cache = None
    _is_lazy = False

    def __init__(self, layer: nn.Module) -> None:
        self.layer = layer

    def __getattr__(self, name: str) -> Any:
        return getattr(self.layer, name)


def _view(ours: type[nn.Module]) -> type[View]:
    """Returns the views with the methods of a class."""
    left = ("__init__", "__module__", "__doc__", "__dict__", "__weakref__", "__annotations__")
    return type(ours.__name__, (View,), {name: x for name, x in vars(ours).items() if name not in left})


class Twin(NamedTuple):
    """How a class of PyG runs as ours."""

    ours: type[nn.Module]
    eager: bool = False  # also in eager mode; others are routed there by what they compute per edge
    aggregations: tuple[str, ...] = ("add", "sum")
    permits: Function | None = None  # of the layer, x and further arguments by name
    widens: bool = False  # under autocast, PyG multiplies messages by float32 weights, and returns float32


def _without_dropout(layer: Any, x: Any, more: dict[str, Any]) -> bool:
    return not layer.training or layer.dropout == 0


def _with_edges(layer: Any, x: Any, more: dict[str, Any]) -> bool:
    """PyG ignores features of edges that the layer has no weights for, and returns weights also for False."""
    features = more.get("edge_attr")
    if more.get("return_attention_weights") is not None:
        return False
    return features is None or layer.lin_edge is not None and features.dim() == 2 and features.is_floating_point()


def _transformer(layer: Any, x: Any, more: dict[str, Any]) -> bool:
    return _with_edges(layer, x, more) and (more.get("edge_attr") is None) == (layer.lin_edge is None)


def _relational(layer: Any, x: Any, more: dict[str, Any]) -> bool:
    return isinstance(more.get("edge_type"), Tensor)


_ANY = ("add", "sum", "mean", "max", "min")
# Classes of PyG by name. Their subclasses run PyG's code, because they may compute something else.
TWINS: dict[str, Twin] = {
    "AGNNConv": Twin(layers.AGNNConv, widens=True),
    "APPNP": Twin(layers.APPNP, permits=_without_dropout, widens=True),
    "ARMAConv": Twin(layers.ARMAConv, widens=True),
    "ChebConv": Twin(layers.ChebConv, widens=True),
    "ClusterGCNConv": Twin(layers.ClusterGCNConv),
    "GATConv": Twin(layers.GATConv, eager=True, permits=_with_edges, widens=True),
    "GATv2Conv": Twin(layers.GATv2Conv, eager=True, permits=_with_edges, widens=True),
    "GCNConv": Twin(layers.GCNConv, widens=True),
    "GINConv": Twin(layers.GINConv),
    "GraphConv": Twin(layers.GraphConv, aggregations=("add", "sum", "mean", "max")),
    "LGConv": Twin(layers.LGConv, widens=True),
    "RGCNConv": Twin(layers.RGCNConv, eager=True, aggregations=("add", "sum", "mean"), permits=_relational, widens=True),
    "SAGEConv": Twin(layers.SAGEConv, aggregations=_ANY),
    "SGConv": Twin(layers.SGConv),
    "TAGConv": Twin(layers.TAGConv, widens=True),
    "TransformerConv": Twin(layers.TransformerConv, eager=True, permits=_transformer),
}
_VIEWS = {name: _view(twin.ours) for name, twin in TWINS.items()}
_PLAIN = (Tensor, nn.Parameter)
_HOOKS = tuple(
    f"_{step}_forward_{kind}"
    for step in ("propagate", "message", "aggregate", "message_and_aggregate", "edge_update")
    for kind in ("pre_hooks", "hooks")
)
_OWN = ("message", "aggregate", "update", "propagate", "edge_update", "message_and_aggregate")


def _fits(twin: Twin, layer: Any, x: Any, edge_index: Any, more: dict[str, Any]) -> bool:
    """Returns whether ours has these arguments and settings, and calls everything that PyG's layer calls."""
    pair = x if isinstance(x, tuple | list) else (x,)
    if type(edge_index) is not Tensor or not all(one is None or type(one) in _PLAIN for one in pair):
        return False
    if edge_index.layout != torch.strided or edge_index.dim() != 2 or edge_index.shape[0] != 2:
        return False
    if layer.aggr not in twin.aggregations or layer.flow != "source_to_target" or layer.node_dim not in (0, -2):
        return False
    if layer.explain or layer.decomposed_layers != 1 or getattr(layer, "cached", False):
        return False
    if any(len(getattr(layer, name)) > 0 for name in _HOOKS) or any(name in layer.__dict__ for name in _OWN):
        return False
    if not all(_is_plain(name, module) for name, module in layer._modules.items()):
        return False
    return twin.permits is None or bool(twin.permits(layer, x, more))


def _is_plain(name: str, module: Any) -> bool:
    """True for a part of a layer that ours reads: a linear layer of PyG that has its weight, and no hooks, of which one
    makes the weight. The network and the activation of a layer are called, whatever they are."""
    if module is None or name in ("aggr_module", "nn", "act"):
        return True
    if type(module) is nn.ModuleList:
        return all(_is_plain("", one) for one in module._modules.values())
    hooked = len(module._forward_pre_hooks) > 0 or len(module._forward_hooks) > 0
    return type(module).__module__ == "torch_geometric.nn.dense.linear" and not hooked


def _forward(kind: type[nn.Module], always: bool) -> Function:
    """Returns `forward` of a class of PyG, for a scope, or for the layers of an accelerated model (`always`). In
    compiled code the scopes of other threads count, too; results are the same."""
    original = _original(kind.forward)
    key = kind, original, always
    if key in _forwards:
        return _forwards[key]
    twin, view, names = TWINS[kind.__name__], _VIEWS[kind.__name__], _arguments(TWINS[kind.__name__].ours)

    @functools.wraps(original)
    def forward(self: Any, x: Any, edge_index: Any, *more: Any, **named: Any) -> Any:
        if torch.compiler.is_compiling():
            routed = (always or state.in_scope) and type(self) is kind
            given = {**dict(zip(names, more, strict=False)), **named}
            if routed and _fits(twin, self, x, edge_index, given):
                return _widened(twin, view(self).forward(x, edge_index, *more, **named))
            return original(self, x, edge_index, *more, **named)
        if always:
            return kind.forward(self, x, edge_index, *more, **named)
        if twin.eager and current.scope is not None and type(self) is kind:
            given = {**dict(zip(names, more, strict=False)), **named}
            if _fits(twin, self, x, edge_index, given):
                return _run(twin, original, self, x, edge_index, given.get("size"), more, named)
        return original(self, x, edge_index, *more, **named)

    _originals[forward], _forwards[key] = original, forward
    return forward


# Kept, so that compiled code finds them again.
_forwards: dict[tuple[type[nn.Module], Function, bool], Function] = {}
_originals: dict[Function, Function] = {}  # PyG's `forward` of each of ours


def _arguments(ours: type[nn.Module]) -> tuple[str, ...]:
    """Returns the names of the arguments of `forward` that follow the edges."""
    code = ours.forward.__code__
    return code.co_varnames[3 : code.co_argcount]


def _run(
    twin: Twin, original: Function, layer: Any, x: Any, edge_index: Tensor, size: Any, more: Any, named: Any
) -> Any:
    """Runs a layer in eager mode, as ours if the matrix of the edges is there or pays."""
    source, target = x if isinstance(x, tuple | list) else (x, x)
    like = source if isinstance(source, Tensor) and source.is_floating_point() else layer.weight.flatten(0, -2)
    if transformed() or not usable(like) or edge_index.shape[1] == 0:
        return original(layer, x, edge_index, *more, **named)
    sources = layer.in_channels_l if source is None else source.shape[0]
    targets = target.shape[0] if target is not None else size[1] if size and size[1] is not None else sources
    name, scope = twin.ours.__name__, current.scope
    graph = Graph(edge_index, 1, lambda what, _x: scope._count(name, what))
    matrix = graph.matrix(targets, sources, like)
    if matrix is not None:
        graph.report(f"st.nn.{name}", like)
        return _widened(twin, _VIEWS[name](layer).forward(x, matrix, *more, **named))
    current.scope = None  # one use of the edges, not one per product
    try:
        return original(layer, x, edge_index, *more, **named)
    finally:
        current.scope = scope


def _widened(twin: Twin, out: Tensor) -> Tensor:
    narrow = out.dtype in (torch.float16, torch.bfloat16)
    return out.float() if twin.widens and narrow and torch.is_autocast_enabled(out.device.type) else out


def _kinds() -> Iterator[type[nn.Module]]:
    """Returns the classes of PyG that have a twin, if it has been imported."""
    pyg = sys.modules.get("torch_geometric.nn")
    for name in TWINS:
        kind = getattr(pyg, name, None)
        if kind is not None:
            yield kind


def patches() -> Iterator[Patch]:
    """Returns the patches for the classes of PyG that have a twin."""
    for kind in _kinds():
        yield Patch(kind, "forward", kind.forward, _forward(kind, False))


def attach(model: nn.Module) -> None:
    """Lets code that is compiled from now on run the layers of a model as ours."""
    kinds = set(_kinds())
    for layer in model.modules():
        if type(layer) in kinds and "forward" not in layer.__dict__:
            layer.forward = types.MethodType(_forward(type(layer), True), layer)


def _original(forward: Function) -> Function:
    """Returns PyG's `forward`, also within a scope."""
    return _originals.get(forward, forward)


def detach(model: nn.Module) -> None:
    """Reverts `attach`."""
    for layer in model.modules():
        own = layer.__dict__.get("forward")
        if getattr(own, "__func__", None) in _originals:
            del layer.__dict__["forward"]
