"""The layer of graph isomorphism networks (Xu et al. 2019)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from ..functions import fused_update_pays, spmm_update
from ..matrix import SparseMatrix
from .fused import first_update, may_fuse, with_diagonal
from ..reductions import total, unweighted
from .graph import Features, Graph, GraphLayer, Size, node_sets


class GINConv(GraphLayer):
    """Graph isomorphism layer (GIN): ``nn((1 + eps) * x + A @ x)``, without edge weights.

    Arguments and parameters are those of `torch_geometric.nn.GINConv`. If `nn` starts with `torch.nn.Linear` and eps is
    not trained, ``1 + eps`` is added to the diagonal of A, and `spmm_update` computes the aggregation, the linear layer
    and a following ReLU: on a CUDA device where the library predicts that one kernel is faster, and always if the matrix
    names a kernel of `spmm_update`. Modules with hooks are called.

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
    _seen_eps: tuple[Tensor, int, float] | None = None  # buffer, its version, its value

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
        if target is source and (fused := self._fused(source, unweighted(a))) is not None:
            return fused
        out = total(a, source)
        if target is not None:
            out = out + (1 + self.eps).to(out.dtype) * target.to(out.dtype)
        result: Tensor = self.nn(out)
        return result

    def _fused(self, x: Tensor, a: SparseMatrix) -> Tensor | None:
        """Returns the result with a fused first layer of `nn`; None if the steps are needed or faster."""
        if self.eps.requires_grad or not may_fuse(x) or (update := first_update(self.nn)) is None:
            return None
        linear = update.linear
        if not fused_update_pays(a, x.shape[1], linear.out_features, x.dtype, update.relu):
            return None
        looped = with_diagonal(a, 1 + self._fixed_eps(), x.dtype)
        out = spmm_update(looped, x, linear.weight.t(), linear.bias, "relu" if update.relu else None)
        for module in update.rest:
            out = module(out)
        return out

    def _fixed_eps(self) -> float:
        """Returns eps; on a CUDA device without a synchronization unless the buffer has changed."""
        seen = self._seen_eps
        if self.eps.is_inference() or self.eps.device.type == "cpu":
            return float(self.eps)
        if seen is None or seen[0] is not self.eps or seen[1] != self.eps._version:
            seen = self._seen_eps = (self.eps, self.eps._version, float(self.eps))
        return seen[2]

    def extra_repr(self) -> str:
        return f"nn={self.nn}"
