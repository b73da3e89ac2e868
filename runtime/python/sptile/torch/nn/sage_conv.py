"""The layer of GraphSAGE (Hamilton et al. 2017), with the mean, sum, maximum or minimum of all neighbors."""

from __future__ import annotations

from torch import Tensor, nn

from ...errors import UnsupportedError, UsageError
from ..reductions import AGGREGATIONS
from .graph import Features, Graph, GraphLayer, Size, node_sets
from .linear import Linear
from .order import aggregate_linear

# Aggregations that may follow the linear layer.
_LINEAR = ("mean", "sum", "add")


class SAGEConv(GraphLayer):
    """GraphSAGE layer: ``W_l @ aggregate(neighbors) + W_r @ x``.

    Arguments and parameters are those of `torch_geometric.nn.SAGEConv`.

    Parameters
    ----------
    in_channels : int or pair of int
        Width of x, or of source and target nodes. -1 uses the width of the first x.
    out_channels : int
        Width of the result.
    aggr : str, optional
        Aggregation: "mean", "sum" or "add", "max" or "min".
    normalize : bool, optional
        Normalize the rows of the result to unit length.
    root_weight : bool, optional
        Add the transformed features of the node.
    project : bool, optional
        Apply a linear layer and ReLU to the neighbors before the aggregation.
    bias : bool, optional
        Add a bias.

    Raises
    ------
    UnsupportedError
        If the aggregation is unknown.
    UsageError
        If `project` is True and the width is unknown.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> layer = st.nn.SAGEConv(4, 2)
    >>> layer(torch.ones(3, 4), torch.tensor([[0, 1, 2], [1, 2, 0]])).shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        aggr: str = "mean",
        normalize: bool = False,
        root_weight: bool = True,
        project: bool = False,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if aggr not in AGGREGATIONS:
            raise UnsupportedError(f"aggr must be {', '.join(map(repr, AGGREGATIONS))}, got {aggr!r}")
        self.in_channels, self.out_channels, self.aggr = in_channels, out_channels, aggr
        self.normalize, self.root_weight, self.project = normalize, root_weight, project
        source, target = (in_channels, in_channels) if isinstance(in_channels, int) else in_channels
        if project:
            if source == -1:
                raise UsageError("project requires in_channels, got -1")
            self.lin = Linear(source, source)
        self.lin_l = Linear(source, out_channels, bias=bias)
        if root_weight:
            self.lin_r = Linear(target, out_channels, bias=False)

    def reset_parameters(self) -> None:
        """Initializes the parameters.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> layer = st.nn.SAGEConv(4, 2)
        >>> layer.reset_parameters()
        """
        for module in self.children():
            module.reset_parameters()  # type: ignore[operator]

    def forward(self, x: Features, edge_index: Graph, size: Size = None) -> Tensor:
        """Applies the layer.

        Parameters
        ----------
        x : Tensor or pair of Tensor
            Features of shape (..., nodes, in_channels), or a pair: features of source and of target nodes. The latter
            may be None.
        edge_index : Tensor or SparseMatrix
            Edges of shape (2, edges), or the adjacency matrix.
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
        >>> layer = st.nn.SAGEConv(4, 2)
        >>> edge_index = torch.tensor([[0, 1, 2], [1, 2, 0]])
        >>> layer(torch.ones(3, 4), edge_index).shape
        torch.Size([3, 2])
        """
        source, target, a = node_sets(x, edge_index, size, "SAGEConv")
        aggregate = AGGREGATIONS[self.aggr]
        if self.project:
            source = self.lin(source).relu()
        out = aggregate_linear(aggregate, a, source, self.lin_l, self.aggr in _LINEAR)
        if self.root_weight and target is not None:
            out = out + self.lin_r(target)
        return nn.functional.normalize(out, dim=-1) if self.normalize else out

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, aggr={self.aggr}"
