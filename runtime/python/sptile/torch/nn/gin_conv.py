"""The layer of graph isomorphism networks (Xu et al. 2019)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from .graph import Features, Graph, GraphLayer, Size, node_sets, total


class GINConv(GraphLayer):
    """Graph isomorphism layer (GIN): ``nn((1 + eps) * x + A @ x)``, without edge weights.

    Arguments and parameters are those of `torch_geometric.nn.GINConv`.

    Parameters
    ----------
    nn : callable
        Module that transforms the sums.
    eps : float, optional
        Initial value of eps.
    train_eps : bool, optional
        Train eps.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> layer = st.nn.GINConv(torch.nn.Linear(4, 2))
    >>> layer(torch.ones(3, 4), torch.tensor([[0, 1, 2], [1, 2, 0]])).shape
    torch.Size([3, 2])
    """

    eps: Tensor

    def __init__(self, nn: Callable[[Tensor], Tensor], eps: float = 0.0, train_eps: bool = False) -> None:
        super().__init__()
        self.nn = nn
        self.initial_eps = eps
        if train_eps:
            self.eps = torch.nn.Parameter(torch.empty(1))
        else:
            self.register_buffer("eps", torch.empty(1))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initializes the parameters.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> layer = st.nn.GINConv(torch.nn.Linear(4, 2))
        >>> layer.reset_parameters()
        """
        if isinstance(self.nn, torch.nn.Module):
            for module in self.nn.modules():
                if hasattr(module, "reset_parameters"):
                    module.reset_parameters()  # type: ignore[operator]
        nn.init.constant_(self.eps, self.initial_eps)

    def forward(self, x: Features, edge_index: Graph, size: Size = None) -> Tensor:
        """Applies the layer.

        Parameters
        ----------
        x : Tensor or pair of Tensor
            Features of shape (..., nodes, n), or a pair: features of source and of target nodes. The latter
            may be None.
        edge_index : Tensor or SparseMatrix
            Edges of shape (2, edges), or the adjacency matrix.
        size : pair of int, optional
            Numbers of source and target nodes.

        Returns
        -------
        Tensor
            Result of `nn`.

        Raises
        ------
        UsageError
            If shapes, types or devices do not match.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> layer = st.nn.GINConv(torch.nn.Linear(4, 2))
        >>> edge_index = torch.tensor([[0, 1, 2], [1, 2, 0]])
        >>> layer(torch.ones(3, 4), edge_index).shape
        torch.Size([3, 2])
        """
        source, target, a = node_sets(x, edge_index, size, "GINConv")
        out = total(a, source)
        if target is not None:
            out = out + (1 + self.eps).to(out.dtype) * target.to(out.dtype)
        result: Tensor = self.nn(out)
        return result
