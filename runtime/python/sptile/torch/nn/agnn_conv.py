"""The propagation layer of attention-based graph networks (Thekumparampil et al. 2018)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .graph import Graph, GraphLayer, attend, check_features, matrix_of


class AGNNConv(GraphLayer):
    """Propagation layer of AGNN: averages neighbors with weights ``softmax(beta * cos(x[i], x[j]))``.

    Arguments and parameters are those of `torch_geometric.nn.AGNNConv`. The layer allocates no memory per edge.

    Parameters
    ----------
    requires_grad : bool, optional
        Train beta.
    add_self_loops : bool, optional
        Add self loops to the graph.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> layer = st.nn.AGNNConv()
    >>> layer(torch.ones(3, 4), torch.tensor([[0, 1, 2], [1, 2, 0]])).shape
    torch.Size([3, 4])
    """

    def __init__(self, requires_grad: bool = True, add_self_loops: bool = True) -> None:
        super().__init__()
        self.requires_grad, self.add_self_loops = requires_grad, add_self_loops
        if requires_grad:
            self.beta: Tensor = nn.Parameter(torch.empty(1))
        else:
            self.register_buffer("beta", torch.ones(1))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initializes the parameters.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> layer = st.nn.AGNNConv()
        >>> layer.reset_parameters()
        """
        if self.requires_grad:
            nn.init.ones_(self.beta)

    def forward(self, x: Tensor, edge_index: Graph) -> Tensor:
        """Applies the layer.

        Parameters
        ----------
        x : Tensor
            Features of shape (..., nodes, n).
        edge_index : Tensor or SparseMatrix
            Edges of shape (2, edges), or the adjacency matrix.

        Returns
        -------
        Tensor
            Result of shape (..., nodes, n).

        Raises
        ------
        UsageError
            If shapes, types or devices do not match.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> layer = st.nn.AGNNConv()
        >>> edge_index = torch.tensor([[0, 1, 2], [1, 2, 0]])
        >>> layer(torch.ones(3, 4), edge_index).shape
        torch.Size([3, 4])
        """
        x = check_features(x, "AGNNConv")
        nodes = x.shape[-2]
        a = matrix_of(edge_index, nodes, nodes)
        # Graphs of a batch are heads.
        lead = x.shape[:-2]
        if lead:
            x = x.reshape(-1, *x.shape[-2:]).transpose(0, 1)
        unit = nn.functional.normalize(x, dim=-1)
        # beta is on the device: scores are dot products of beta x_i and x_j.
        out = attend(a, self.beta * unit, unit, x, self.add_self_loops, scale=1.0)
        return out.transpose(0, 1).reshape(*lead, *out.shape[::2]) if lead else out
