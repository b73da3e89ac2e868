"""The layer of Cluster-GCN with diagonal enhancement (Chiang et al. 2019)."""

from __future__ import annotations

import torch
from torch import Tensor

from ..matrix import SparseMatrix, product_type
from ..operands import statistic
from ..reductions import propagate
from .graph import Graph, GraphLayer, check_features, edges_of, matrix_of
from .linear import GlorotLinear
from .order import aggregate_linear


class ClusterGCNConv(GraphLayer):
    """Cluster-GCN layer: ``W_out @ (A' + diag_lambda * diag(A')) @ x + W_root @ x``, where ``A' = D^-1 (A + I)``.

    Arguments and parameters are those of `torch_geometric.nn.ClusterGCNConv`. Edge weights are ignored.

    Parameters
    ----------
    in_channels : int
        Width of x. -1 uses the width of the first x.
    out_channels : int
        Width of the result.
    diag_lambda : float, optional
        Factor of the diagonal enhancement.
    add_self_loops : bool, optional
        Replace the self loops of the graph by one per node.
    bias : bool, optional
        Add a bias.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> layer = st.nn.ClusterGCNConv(4, 2, diag_lambda=0.1)
    >>> layer(torch.ones(3, 4), torch.tensor([[0, 1, 2], [1, 2, 0]])).shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        diag_lambda: float = 0.0,
        add_self_loops: bool = True,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.in_channels, self.out_channels = in_channels, out_channels
        self.diag_lambda, self.add_self_loops = diag_lambda, add_self_loops
        self.lin_out = GlorotLinear(in_channels, out_channels, bias=bias)
        self.lin_root = GlorotLinear(in_channels, out_channels)

    def forward(self, x: Tensor, edge_index: Graph) -> Tensor:
        """Applies the layer.

        Parameters
        ----------
        x : Tensor
            Features of shape (..., nodes, in_channels).
        edge_index : Tensor or SparseMatrix
            Edges of shape (2, edges), or the adjacency matrix.

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
        >>> edge_index = torch.tensor([[0, 1, 2], [1, 2, 0]])
        >>> st.nn.ClusterGCNConv(4, 2)(torch.ones(3, 4), edge_index).shape
        torch.Size([3, 2])
        """
        x = check_features(x, "ClusterGCNConv")
        nodes, dtype = x.shape[-2], product_type(x, x.device.type)
        a = matrix_of(edge_index, nodes, nodes)
        name = f"cluster {self.diag_lambda} {self.add_self_loops} {dtype}"
        enhanced = a._derive(name, lambda: self._enhanced(a, dtype))
        return aggregate_linear(propagate, enhanced, x, self.lin_out, True) + self.lin_root(x)

    def _enhanced(self, a: SparseMatrix, dtype: torch.dtype) -> SparseMatrix:
        """Returns A' + diag_lambda diag(A')."""
        edges = edges_of(a, self.add_self_loops)
        row, loop = edges.row, edges.row == edges.col
        counted = torch.ones(row.shape, dtype=statistic(dtype), device=row.device)
        if edges.left_out is not None:
            counted = torch.cat([counted[: edges.given].masked_fill(edges.left_out, 0), counted[edges.given :]])
        degree = counted.new_zeros(a.shape[0]).index_add(0, row, counted).clamp(min=1)
        values = counted * torch.where(loop, 1 + self.diag_lambda, 1.0) / degree.index_select(0, row)
        return edges.matrix.with_values(values.to(dtype))

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, diag_lambda={self.diag_lambda}"
