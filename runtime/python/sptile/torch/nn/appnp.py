"""Propagation by personalized PageRank (Klicpera et al. 2019)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from ..functions import spmm
from ..matrix import SparseMatrix
from ..reductions import propagate
from .graph import Graph, GraphLayer, check_features, normalized_graph


class APPNP(GraphLayer):
    """Personalized PageRank propagation: K steps of ``x = (1 - alpha) * A @ x + alpha * x_0``.

    A is the normalized adjacency matrix of GCN. Arguments are those of `torch_geometric.nn.APPNP`.

    Parameters
    ----------
    K : int
        Number of steps.
    alpha : float
        Probability of a return to the start.
    dropout : float, optional
        Probability of dropping a nonzero of A in a step, during training. Repeated edges are one nonzero.
    cached : bool, optional
        Normalize the graph of the first call and use it in all later calls.
    add_self_loops : bool, optional
        Add missing self loops.
    normalize : bool, optional
        Normalize the graph. The result is reused while the graph is unchanged.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> layer = st.nn.APPNP(K=10, alpha=0.1)
    >>> layer(torch.ones(3, 4), torch.tensor([[0, 1, 2], [1, 2, 0]])).shape
    torch.Size([3, 4])
    """

    def __init__(
        self,
        K: int,
        alpha: float,
        dropout: float = 0.0,
        cached: bool = False,
        add_self_loops: bool = True,
        normalize: bool = True,
    ) -> None:
        super().__init__()
        self.K, self.alpha, self.dropout, self.cached = K, alpha, dropout, cached
        self.add_self_loops, self.normalize = add_self_loops, normalize
        self._cache: SparseMatrix | None = None

    def reset_parameters(self) -> None:
        """Discards the cached graph.

        Examples
        --------
        >>> import sptile.torch as st
        >>> layer = st.nn.APPNP(K=10, alpha=0.1, cached=True)
        >>> layer.reset_parameters()
        """
        self._cache = None

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
        >>> st.nn.APPNP(K=2, alpha=0.1)(torch.ones(3, 4), edge_index).shape
        torch.Size([3, 4])
        """
        x = check_features(x, "APPNP")
        a = self._cache
        if a is None:
            a = normalized_graph(x, edge_index, edge_weight, self.add_self_loops, self.normalize)
            self._cache = a if self.cached and self.normalize else None
        out = x
        for _ in range(self.K):
            out = (1 - self.alpha) * self._step(a, out) + self.alpha * x
        return out

    def _step(self, a: SparseMatrix, x: Tensor) -> Tensor:
        if not self.training or self.dropout == 0:
            return propagate(a, x)
        values = a.values
        if values is None:
            values = torch.ones(a._entries.given, dtype=x.dtype, device=x.device)
        values = functional.dropout(values, self.dropout)
        if x.dim() == 2:
            return spmm(a, x, values)  # values of one call, for which no format is built
        flat = x.flatten(0, -3).transpose(0, 1)
        return spmm(a, flat, values).transpose(0, 1).view(x.shape)

    def _apply(self, fn: Any, recurse: bool = True) -> APPNP:
        self._cache = None  # it stays on its device
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return self

    def extra_repr(self) -> str:
        return f"K={self.K}, alpha={self.alpha}"
