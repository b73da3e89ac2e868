"""The propagation layer of LightGCN (He et al. 2020)."""

from __future__ import annotations

from torch import Tensor

from ..reductions import propagate
from .graph import Graph, GraphLayer, check_features, normalized_graph


class LGConv(GraphLayer):
    """Propagation layer of LightGCN: ``D^-1/2 A D^-1/2 @ x``, without parameters.

    Arguments are those of `torch_geometric.nn.LGConv`.

    Parameters
    ----------
    normalize : bool, optional
        Normalize the graph. The result is reused while the graph is unchanged.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> layer = st.nn.LGConv()
    >>> layer(torch.ones(3, 4), torch.tensor([[0, 1, 2], [1, 2, 0]])).shape
    torch.Size([3, 4])
    """

    def __init__(self, normalize: bool = True) -> None:
        super().__init__()
        self.normalize = normalize

    def forward(self, x: Tensor, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        """Applies the layer.

        Parameters
        ----------
        x : Tensor
            Features of shape (..., nodes, n).
        edge_index : Tensor or SparseMatrix
            Edges of shape (2, edges), or the adjacency matrix.
        edge_weight : Tensor, optional
            Edge weights of shape (edges,).

        Returns
        -------
        Tensor
            Result of the shape of x.

        Raises
        ------
        UsageError
            If shapes, types or devices do not match.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> edge_index = torch.tensor([[0, 1, 2], [1, 2, 0]])
        >>> st.nn.LGConv()(torch.ones(3, 4), edge_index).shape
        torch.Size([3, 4])
        """
        x = check_features(x, "LGConv")
        return propagate(normalized_graph(x, edge_index, edge_weight, False, self.normalize), x)
