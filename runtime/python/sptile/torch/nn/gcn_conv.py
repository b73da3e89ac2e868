"""The layer of graph convolutional networks (Kipf and Welling 2017)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ...errors import UsageError
from ..functions import fused_update_pays, spmm_update
from ..matrix import SparseMatrix, product_type
from .fused import aggregate_updated, may_fuse, product_updated, recomputes_product
from ..reductions import propagate
from .graph import Graph, GraphLayer, check_features, graph_of, matrix_of, normalized
from .linear import GlorotLinear, materialize
from .order import aggregate_first


class GCNConv(GraphLayer):
    """Graph convolution layer (GCN): ``D^-1/2 (A + I) D^-1/2 @ x @ W + b``.

    Arguments and parameters are those of `torch_geometric.nn.GCNConv`. The layer multiplies by A before W if that loads
    fewer bytes. On a CUDA device it then fuses both products of the forward pass, otherwise those of the gradient of x,
    where the library predicts that one kernel is faster. It always fuses them if the matrix names a kernel of
    `spmm_update`. In training, it keeps ``A @ x`` for the backward pass if that takes less memory than a transpose of A;
    otherwise the backward pass computes it again.

    Parameters
    ----------
    in_channels : int
        Width of x. -1 uses the width of the first x.
    out_channels : int
        Width of the result.
    improved : bool, optional
        Use the weight 2 for added self loops of weighted graphs.
    cached : bool, optional
        Normalize the graph of the first call and use it in all later calls.
    add_self_loops : bool, optional
        Add missing self loops. Existing ones keep their weight. By default the value of `normalize`.
    normalize : bool, optional
        Normalize the graph. The result is reused while the graph is unchanged. A matrix from `SparseMatrix.gcn_norm` is
        not normalized again.
    bias : bool, optional
        Add a bias.

    Raises
    ------
    UsageError
        If `add_self_loops` is True without `normalize`.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> layer = st.nn.GCNConv(4, 2)
    >>> layer(torch.ones(3, 4), torch.tensor([[0, 1, 2], [1, 2, 0]])).shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        improved: bool = False,
        cached: bool = False,
        add_self_loops: bool | None = None,
        normalize: bool = True,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if add_self_loops is None:
            add_self_loops = normalize
        if add_self_loops and not normalize:
            raise UsageError("add_self_loops requires normalize; add the loops to the graph instead")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.improved, self.cached = improved, cached
        self.add_self_loops, self.normalize = add_self_loops, normalize
        self.lin = GlorotLinear(in_channels, out_channels)
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        self._cache: SparseMatrix | None = None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initializes the parameters.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> layer = st.nn.GCNConv(4, 2)
        >>> layer.reset_parameters()
        """
        self.lin.reset_parameters()
        if self.bias is not None:
            nn.init.zeros_(self.bias)
        self._cache = None

    def forward(self, x: Tensor, edge_index: Graph, edge_weight: Tensor | None = None) -> Tensor:
        """Applies the layer.

        Parameters
        ----------
        x : Tensor
            Features of shape (..., nodes, in_channels), or a sparse tensor of shape (nodes, in_channels).
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
        >>> layer = st.nn.GCNConv(4, 2)
        >>> edge_index = torch.tensor([[0, 1, 2], [1, 2, 0]])
        >>> layer(torch.ones(3, 4), edge_index).shape
        torch.Size([3, 2])
        """
        x = check_features(x, "GCNConv")
        materialize(self.lin, x.shape[-1])
        a = self._matrix(x, edge_index, edge_weight)
        if x.layout != torch.strided:
            out = propagate(a, graph_of(x) @ self.lin.weight.t())
            return out if self.bias is None else out + self.bias.to(out.dtype)
        training = torch.is_grad_enabled()
        again = recomputes_product(a, x, self.lin.weight)
        if aggregate_first(x.shape[-1], self.out_channels, x.requires_grad, training, again):
            if again:
                return product_updated(a, x, self.lin.weight, self.bias)
            if may_fuse(x) and fused_update_pays(a, x.shape[1], self.out_channels, x.dtype):
                return spmm_update(a, x, self.lin.weight.t(), self.bias)
            return nn.functional.linear(propagate(a, x), self.lin.weight, self.bias)
        out = aggregate_updated(a, x, self.lin)
        out = propagate(a, self.lin(x)) if out is None else out
        return out if self.bias is None else out + self.bias.to(out.dtype)

    def _matrix(self, x: Tensor, edge_index: Graph, edge_weight: Tensor | None) -> SparseMatrix:
        if self._cache is not None:
            return self._cache
        nodes = x.shape[-2]
        a = matrix_of(edge_index, nodes, nodes, edge_weight)
        if not self.normalize:
            return a
        weighted = a.values is not None and not a._counts
        dtype = x.dtype if self.cached else product_type(x, x.device.type)
        a = normalized(a, self.add_self_loops, 2.0 if self.improved and weighted else 1.0, dtype)
        if self.cached:
            self._cache = a
        return a

    def _apply(self, fn: Any, recurse: bool = True) -> GCNConv:
        self._cache = None  # it stays on its device
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return self

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}"
