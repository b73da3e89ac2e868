"""A plugin of pytest: each call of a layer of PyG that sptile has too is compared with sptile's."""

from __future__ import annotations

import copy
from typing import Any

import torch
import torch_geometric.nn as pyg
from tally import compare, pytest_sessionfinish, pytest_terminal_summary  # noqa: F401 (hooks)

import sptile.torch as st

_LAYERS = (
    "AGNNConv", "APPNP", "ARMAConv", "ChebConv", "ClusterGCNConv", "GATConv", "GCNConv", "GINConv", "GraphConv", "LGConv",
    "RGCNConv", "SAGEConv", "SGConv", "TAGConv",
)  # fmt: skip
_active = False
# Their matrices have no weights in sptile; PyG multiplies by those of a torch.sparse tensor.
_UNWEIGHTED = ("ClusterGCNConv", "GINConv", "SAGEConv")


def _graph(edge_index: Any) -> Any:
    """PyG's adj_t as sptile takes it."""
    if isinstance(edge_index, torch.Tensor) and edge_index.layout is not torch.strided:
        return st.SparseMatrix.from_torch(edge_index)
    return edge_index


def _weighted(edge_index: Any) -> bool:
    return edge_index.layout is not torch.strided and not bool((edge_index.to_sparse_csr().values() == 1).all())


def _first(result: Any) -> Any:
    return (result[0] if isinstance(result, tuple) else result).detach().double().numpy()


def _compare(name: str) -> None:
    kind, ours = getattr(pyg, name), getattr(st.nn, name)
    created, called = kind.__init__, kind.forward

    def __init__(self: Any, *arguments: Any, **options: Any) -> None:
        created(self, *arguments, **options)
        object.__setattr__(self, "_created", (arguments, options))

    def forward(self: Any, x: Any, edge_index: Any, *arguments: Any, **options: Any) -> Any:
        global _active
        random, state = torch.get_rng_state(), copy.deepcopy(self.state_dict())
        expected = called(self, x, edge_index, *arguments, **options)
        if _active or not isinstance(edge_index, torch.Tensor) or (name in _UNWEIGHTED and _weighted(edge_index)):
            return expected
        _active = True

        def same() -> Any:
            made, named = copy.deepcopy(self._created)
            layer = ours(*made, **{key: value for key, value in named.items() if key in ours.__init__.__annotations__})
            layer.load_state_dict(state)
            layer.train(self.training)
            torch.set_rng_state(random)
            return _first(layer(x, _graph(edge_index), *arguments, **options))

        compare(f"{name}{tuple(self._created[0])}", same, _first(expected), 1e-4)
        _active = False
        return expected

    kind.__init__, kind.forward = __init__, forward


def pytest_configure() -> None:
    for name in _LAYERS:
        _compare(name)
