"""The layer of topology adaptive graph convolution (Du et al. 2017)."""

from __future__ import annotations

from torch import Tensor, nn

from ..reductions import propagate
from .graph import Graph, GraphLayer, check_features, normalized_graph
from .linear import Linear, bias_of
from .order import aggregates_first


class TAGConv(GraphLayer):
    """Topology adaptive graph convolution: the sum of ``A^k @ x @ W_k`` for k from 0 to K.

    A is ``D^-1/2 A D^-1/2``. Arguments and parameters are those of `torch_geometric.nn.TAGConv`. If the result is
    narrower than x, the layer evaluates the polynomial by Horner's method, which multiplies A by results.

    Parameters
    ----------
    in_channels : int
        Width of x. -1 uses the width of the first x.
    out_channels : int
        Width of the result.
    K : int, optional
        Number of steps.
    bias : bool, optional
        Add a bias.
    normalize : bool, optional
        Normalize the graph. The result is reused while the graph is unchanged.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> layer = st.nn.TAGConv(4, 2)
    >>> layer(torch.ones(3, 4), torch.tensor([[0, 1, 2], [1, 2, 0]])).shape
    torch.Size([3, 2])
    """

    def __init__(
        self, in_channels: int, out_channels: int, K: int = 3, bias: bool = True, normalize: bool = True
    ) -> None:
        super().__init__()
        self.in_channels, self.out_channels, self.K, self.normalize = in_channels, out_channels, K, normalize
        self.lins = nn.ModuleList(Linear(in_channels, out_channels, bias=False) for _ in range(K + 1))
        self.bias = bias_of(out_channels, bias)

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
        >>> st.nn.TAGConv(4, 2)(torch.ones(3, 4), edge_index).shape
        torch.Size([3, 2])
        """
        x = check_features(x, "TAGConv")
        a = normalized_graph(x, edge_index, edge_weight, False, self.normalize)
        first, *others = self.lins
        if aggregates_first(x, first):  # type: ignore[arg-type]
            out = first(x)
            for lin in others:
                x = propagate(a, x)
                out = out + lin(x)
        else:
            *lower, last = self.lins
            out = last(x)
            for lin in reversed(lower):
                out = propagate(a, out) + lin(x)
        return out if self.bias is None else out + self.bias.to(out.dtype)

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, K={self.K}"
