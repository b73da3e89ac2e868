"""The layer of simplified graph convolution (Wu et al. 2019)."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.nn import functional

from ..matrix import SparseMatrix
from ..reductions import propagate
from .graph import Graph, GraphLayer, check_features, normalized_graph
from .linear import Linear
from .order import aggregates_first


class SGConv(GraphLayer):
    """Simplified graph convolution: ``W @ (A^K @ x) + b``.

    A is the normalized adjacency matrix of GCN. Arguments and parameters are those of `torch_geometric.nn.SGConv`. The
    layer multiplies by W before A if that loads fewer bytes and `cached` is False.

    Parameters
    ----------
    in_channels : int
        Width of x. -1 uses the width of the first x.
    out_channels : int
        Width of the result.
    K : int, optional
        Number of steps.
    cached : bool, optional
        Compute ``A^K @ x`` in the first call, and use it in all later calls whatever their x.
    add_self_loops : bool, optional
        Add missing self loops.
    bias : bool, optional
        Add a bias.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> layer = st.nn.SGConv(4, 2, K=2)
    >>> layer(torch.ones(3, 4), torch.tensor([[0, 1, 2], [1, 2, 0]])).shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        K: int = 1,
        cached: bool = False,
        add_self_loops: bool = True,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.in_channels, self.out_channels, self.K = in_channels, out_channels, K
        self.cached, self.add_self_loops = cached, add_self_loops
        self.lin = Linear(in_channels, out_channels, bias=bias)
        self._cache: Tensor | None = None

    def reset_parameters(self) -> None:
        """Initializes the parameters, and discards the cached features.

        Examples
        --------
        >>> import sptile.torch as st
        >>> layer = st.nn.SGConv(4, 2)
        >>> layer.reset_parameters()
        """
        super().reset_parameters()
        self._cache = None

    def forward(self, x: Tensor, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        """Applies the layer.

        Parameters
        ----------
        x : Tensor
            Features of shape (..., nodes, in_channels).
        edge_index : Tensor or SparseMatrix
            Edges of shape (2, edges), or the adjacency matrix.
        edge_weight : Tensor, optional
            Edge weights of shape (edges,).

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
        >>> st.nn.SGConv(4, 2)(torch.ones(3, 4), edge_index).shape
        torch.Size([3, 2])
        """
        if self._cache is not None:
            return self.lin(self._cache.detach())
        x = check_features(x, "SGConv")
        a = normalized_graph(x, edge_index, edge_weight, self.add_self_loops)
        if aggregates_first(x, self.lin) or self.cached:
            x = self._steps(a, x)
            self._cache = x if self.cached else None
            return self.lin(x)
        out = self._steps(a, functional.linear(x, self.lin.weight))
        return out if self.lin.bias is None else out + self.lin.bias.to(out.dtype)

    def _steps(self, a: SparseMatrix, x: Tensor) -> Tensor:
        for _ in range(self.K):
            x = propagate(a, x)
        return x

    def _apply(self, fn: Any, recurse: bool = True) -> SGConv:
        self._cache = None  # it stays on its device
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return self

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, K={self.K}"
