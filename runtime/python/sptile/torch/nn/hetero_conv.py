"""Layers over a heterogeneous graph, with one matrix per edge type."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from ...errors import UsageError
from .graph import Features, Graph, Size, reset_modules

EdgeType = tuple[str, str, str]


class HeteroConv(nn.Module):
    """Applies one layer to each edge type of a heterogeneous graph, and combines the results of each node type.

    Arguments and parameters are those of `torch_geometric.nn.HeteroConv`.

    Parameters
    ----------
    convs : mapping
        Layer for each edge type (source type, relation, target type).
    aggr : str, optional
        Combination of the results of a node type: "sum", "mean", "min", "max", "cat", or None, which stacks them.

    Raises
    ------
    UsageError
        If `aggr` or an edge type is invalid, or a layer between two node types adds self loops.

    Warns
    -----
    UserWarning
        If a node type is the target of no edge type, and therefore has no result.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> layer = st.nn.HeteroConv({("a", "to", "b"): st.nn.SAGEConv(4, 2), ("b", "to", "a"): st.nn.SAGEConv(4, 2)})
    >>> edges = torch.tensor([[0, 1], [1, 0]])
    >>> out = layer({"a": torch.ones(3, 4), "b": torch.ones(2, 4)}, {("a", "to", "b"): edges, ("b", "to", "a"): edges})
    >>> out["b"].shape
    torch.Size([2, 2])
    """

    def __init__(self, convs: Mapping[EdgeType, nn.Module], aggr: str | None = "sum") -> None:
        super().__init__()
        if aggr not in (None, "sum", "mean", "min", "max", "cat"):
            raise UsageError(f"aggr must be None, 'sum', 'mean', 'min', 'max' or 'cat', got {aggr!r}")
        for key, layer in convs.items():
            if not isinstance(key, tuple) or len(key) != 3:
                raise UsageError(f"keys of convs must be (source type, relation, target type), got {key!r}")
            if key[0] != key[2] and getattr(layer, "add_self_loops", False):
                raise UsageError(
                    f"the layer of {key} adds self loops between different nodes, which is incorrect message passing; "
                    "pass add_self_loops=False to it"
                )
        without = {key[0] for key in convs} - {key[2] for key in convs}
        if without:
            warnings.warn(
                f"node types {sorted(without)} are the target of no edge type and have no result", stacklevel=2
            )
        self.aggr = aggr
        self.edge_types = list(convs)
        self.convs = nn.ModuleDict({_name(key): layer for key, layer in convs.items()})

    def reset_parameters(self) -> None:
        """Initializes the parameters of the layers.

        Examples
        --------
        >>> import sptile.torch as st
        >>> layer = st.nn.HeteroConv({("a", "to", "a"): st.nn.SAGEConv(4, 2)})
        >>> layer.reset_parameters()
        """
        reset_modules(self)

    def forward(
        self,
        x_dict: Mapping[str, Tensor],
        edge_index_dict: Mapping[EdgeType, Graph],
        *args_dict: Mapping[Any, Any],
        edge_weight_dict: Mapping[EdgeType, Tensor] | None = None,
        edge_attr_dict: Mapping[EdgeType, Tensor] | None = None,
        edge_type_dict: Mapping[EdgeType, Tensor] | None = None,
        size_dict: Mapping[EdgeType, Size] | None = None,
    ) -> dict[str, Any]:
        """Applies the layers.

        Parameters
        ----------
        x_dict : mapping of str to Tensor
            Features of each node type.
        edge_index_dict : mapping
            Edges of shape (2, edges) or adjacency matrix, for each edge type. Others are skipped.
        *args_dict : mapping
            Further positional arguments of the layers, by edge type.
        edge_weight_dict, edge_attr_dict, edge_type_dict, size_dict : mapping, optional
            Arguments `edge_weight`, `edge_attr`, `edge_type` and `size` of the layers, by edge type.

        Returns
        -------
        dict of str to Tensor
            Result of each node type that is a target.

        Raises
        ------
        UsageError
            If features of a node type are missing, or shapes, types or devices do not match.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> layer = st.nn.HeteroConv({("a", "to", "a"): st.nn.SAGEConv(4, 2)})
        >>> layer({"a": torch.ones(3, 4)}, {("a", "to", "a"): torch.tensor([[0], [1]])})["a"].shape
        torch.Size([3, 2])
        """
        named = {
            "edge_weight": edge_weight_dict,
            "edge_attr": edge_attr_dict,
            "edge_type": edge_type_dict,
            "size": size_dict,
        }
        results: dict[str, list[Any]] = {}
        for key, layer in zip(self.edge_types, self.convs.values(), strict=True):
            if key not in edge_index_dict:
                continue
            more = [values[key] for values in args_dict if key in values]
            options = {name: values[key] for name, values in named.items() if values is not None and key in values}
            out = layer(_features(x_dict, key), edge_index_dict[key], *more, **options)
            results.setdefault(key[2], []).append(out)
        return {kind: _combined(found, self.aggr) for kind, found in results.items()}

    def __repr__(self) -> str:
        return f"HeteroConv(num_relations={len(self.edge_types)})"


def _name(key: EdgeType) -> str:
    """Returns the name of a layer in the state dict, that of PyG."""
    return f"<{'___'.join(key)}>".replace(".", "#")


def _features(x_dict: Mapping[str, Tensor], key: EdgeType) -> Features:
    source, _relation, target = key
    if source not in x_dict:
        raise UsageError(f"x_dict must contain features of {source!r} for the edges {key}, got {sorted(x_dict)}")
    return x_dict[source] if source == target else (x_dict[source], x_dict.get(target))


def _combined(results: list[Tensor], aggr: str | None) -> Tensor:
    if aggr is None:
        return torch.stack(results, 1)
    if len(results) == 1:
        return results[0]
    if aggr == "cat":
        return torch.cat(results, -1)
    stacked = torch.stack(results)
    if aggr in ("min", "max"):
        return (stacked.min(0) if aggr == "min" else stacked.max(0)).values
    return stacked.sum(0) if aggr == "sum" else stacked.mean(0)
