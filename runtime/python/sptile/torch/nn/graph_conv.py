"""The layer of higher-order graph networks (Morris et al. 2019)."""

from __future__ import annotations

from functools import partial

from torch import Tensor

from ...errors import UnsupportedError
from ..reductions import AGGREGATIONS, propagate, reduction_named
from .graph import Features, Graph, GraphLayer, Size, node_sets
from .linear import Linear
from .order import aggregate_linear



class GraphConv(GraphLayer):
    """Graph layer with weighted edges: ``W_rel @ aggregate(w[i, j] * x[j]) + W_root @ x[i]``.

    Arguments and parameters are those of `torch_geometric.nn.GraphConv`.

    Parameters
    ----------
    in_channels : int or pair of int
        Width of x, or of source and target nodes. -1 uses the width of the first x.
    out_channels : int
        Width of the result.
    aggr : str, optional
        Aggregation: "add", "sum", "max", "min", or "mean", which divides the sum by the number of edges.
    bias : bool, optional
        Add a bias.

    Raises
    ------
    UnsupportedError
        If the aggregation is unknown.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> layer = st.nn.GraphConv(4, 2)
    >>> layer(torch.ones(3, 4), torch.tensor([[0, 1, 2], [1, 2, 0]])).shape
    torch.Size([3, 2])
    """

    def __init__(
        self, in_channels: int | tuple[int, int], out_channels: int, aggr: str = "add", bias: bool = True
    ) -> None:
        super().__init__()
        if aggr not in AGGREGATIONS:
            raise UnsupportedError(f"aggr must be one of {', '.join(map(repr, AGGREGATIONS))}, got {aggr!r}")
        self.in_channels, self.out_channels, self.aggr = in_channels, out_channels, aggr
        source, target = (in_channels, in_channels) if isinstance(in_channels, int) else in_channels
        self.lin_rel = Linear(source, out_channels, bias=bias)
        self.lin_root = Linear(target, out_channels, bias=False)

    def forward(
        self, x: Features, edge_index: Graph, edge_weight: Tensor | None = None, size: Size = None
    ) -> Tensor:
        """Applies the layer.

        Parameters
        ----------
        x : Tensor or pair of Tensor
            Features of shape (..., nodes, in_channels), or a pair: features of source and of target nodes. The latter
            may be None.
        edge_index : Tensor or SparseMatrix
            Edges of shape (2, edges), or the adjacency matrix.
        edge_weight : Tensor, optional
            Edge weights of shape (edges,).
        size : pair of int, optional
            Numbers of source and target nodes.

        Returns
        -------
        Tensor
            Result of shape (..., nodes, out_channels).

        Raises
        ------
        UsageError
            If shapes, types or devices do not match.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> layer = st.nn.GraphConv(4, 2)
        >>> edge_index = torch.tensor([[0, 1, 2], [1, 2, 0]])
        >>> layer(torch.ones(3, 4), edge_index, torch.ones(3)).shape
        torch.Size([3, 2])
        """
        source, target, a = node_sets(x, edge_index, size, "GraphConv", weight=edge_weight)
        aggregate = partial(propagate, reduce=reduction_named(self.aggr))
        out = aggregate_linear(aggregate, a, source, self.lin_rel, self.aggr not in ("max", "min"))
        return out if target is None else out + self.lin_root(target)

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}"
