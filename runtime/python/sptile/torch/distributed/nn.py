"""The layers of `sptile.torch.nn` for a `DistSparseMatrix`, on the rows that a rank owns.

Weights must be equal on all ranks: use DistributedDataParallel, or sum gradients with `DistSparseMatrix.add_up`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

from ...errors import UnsupportedError
from .. import nn as single
from ..nn.order import aggregate_first
from .functions import attention
from .matrix import DistSparseMatrix


class GCNConv(single.GCNConv):
    """Graph convolution layer (GCN), see `sptile.torch.nn.GCNConv`.

    A matrix from `DistSparseMatrix.gcn_norm` is not normalized again.

    Examples
    --------
    >>> import torch, sptile.torch.distributed as sd
    >>> A = sd.DistSparseMatrix("parts")
    >>> sd.nn.GCNConv(4, 2)(torch.ones(A.owned, 4), A).shape
    torch.Size([2286, 2])
    """

    def forward(self, x: Tensor, A: DistSparseMatrix) -> Tensor:  # type: ignore[override]
        """Applies the layer to the rows of this rank.

        Parameters
        ----------
        x : Tensor
            Features of shape (owned, n).
        A : DistSparseMatrix
            Adjacency matrix.

        Returns
        -------
        Tensor
            Result for the rows of this rank.

        Raises
        ------
        UsageError, IoError
            See `DistSparseMatrix.fetch`.

        Examples
        --------
        >>> import torch, sptile.torch.distributed as sd
        >>> A = sd.DistSparseMatrix("parts")
        >>> sd.nn.GCNConv(4, 2)(torch.ones(A.owned, 4), A).shape
        torch.Size([2286, 2])
        """
        a = A
        if self.normalize and not A.is_normalized:
            weighted = A.local.values is not None
            fill = 2.0 if self.improved and weighted else 1.0
            a = A._derive(
                f"gcn_norm {self.add_self_loops} {fill} {x.dtype}",
                lambda: A.gcn_norm(self.add_self_loops, fill_value=fill, dtype=x.dtype),
            )
        if aggregate_first(self.in_channels, self.out_channels, x.requires_grad, torch.is_grad_enabled()):
            return functional.linear(a @ x, self.lin.weight, self.bias)
        out = a @ self.lin(x)
        return out if self.bias is None else out + self.bias.to(out.dtype)


class GINConv(single.GINConv):
    """Graph isomorphism layer (GIN), see `sptile.torch.nn.GINConv`.

    Examples
    --------
    >>> import torch, sptile.torch.distributed as sd
    >>> A = sd.DistSparseMatrix("parts")
    >>> sd.nn.GINConv(torch.nn.Linear(4, 2))(torch.ones(A.owned, 4), A).shape
    torch.Size([2286, 2])
    """

    def forward(self, x: Tensor, A: DistSparseMatrix) -> Tensor:  # type: ignore[override]
        """Applies the layer to the rows of this rank.

        Parameters
        ----------
        x : Tensor
            Features of shape (owned, n).
        A : DistSparseMatrix
            Adjacency matrix.

        Returns
        -------
        Tensor
            Result for the rows of this rank.

        Raises
        ------
        UsageError, IoError
            See `DistSparseMatrix.fetch`.

        Examples
        --------
        >>> import torch, sptile.torch.distributed as sd
        >>> A = sd.DistSparseMatrix("parts")
        >>> sd.nn.GINConv(torch.nn.Linear(4, 2))(torch.ones(A.owned, 4), A).shape
        torch.Size([2286, 2])
        """
        out: Tensor = self.nn((1 + self.eps).to(x.dtype) * x + A.unweighted() @ x)
        return out


class AGNNConv(single.AGNNConv):
    """Propagation layer of AGNN, see `sptile.torch.nn.AGNNConv`.

    Examples
    --------
    >>> import torch, sptile.torch.distributed as sd
    >>> A = sd.DistSparseMatrix("parts")
    >>> sd.nn.AGNNConv()(torch.ones(A.owned, 4), A).shape
    torch.Size([2286, 4])
    """

    def forward(self, x: Tensor, A: DistSparseMatrix) -> Tensor:  # type: ignore[override]
        """Applies the layer to the rows of this rank.

        Parameters
        ----------
        x : Tensor
            Features of shape (owned, n).
        A : DistSparseMatrix
            Adjacency matrix.

        Returns
        -------
        Tensor
            Result for the rows of this rank.

        Raises
        ------
        UsageError, IoError
            See `DistSparseMatrix.fetch`.

        Examples
        --------
        >>> import torch, sptile.torch.distributed as sd
        >>> A = sd.DistSparseMatrix("parts")
        >>> sd.nn.AGNNConv()(torch.ones(A.owned, 4), A).shape
        torch.Size([2286, 4])
        """
        unit = functional.normalize(x, dim=-1)
        over = A.joined.with_loops() if self.add_self_loops else A.joined
        return attention(A, self.beta * unit, unit, x, over=over, scale=1.0)


class GATConv(single.GATConv):
    """Graph attention layer (GAT), see `sptile.torch.nn.GATConv`, without edge features and returned weights.

    Attributes
    ----------
    drop_weights : callable or None
        Drops attention weights in training, as ``drop_weights(weights, dropout=p)``; see `drop` of
        `sptile.torch.distributed.attention`. None, the default: each rank draws masks from its own random numbers.

    Examples
    --------
    >>> import torch, sptile.torch.distributed as sd
    >>> A = sd.DistSparseMatrix("parts")
    >>> sd.nn.GATConv(4, 2)(torch.ones(A.owned, 4), A).shape
    torch.Size([2286, 2])
    """

    drop_weights: Callable[..., Tensor] | None = None

    def forward(self, x: Tensor, A: DistSparseMatrix) -> Tensor:  # type: ignore[override]
        """Applies the layer to the rows of this rank.

        Parameters
        ----------
        x : Tensor
            Features of shape (owned, n).
        A : DistSparseMatrix
            Adjacency matrix.

        Returns
        -------
        Tensor
            Result for the rows of this rank.

        Raises
        ------
        UsageError, IoError
            See `DistSparseMatrix.fetch`.

        Examples
        --------
        >>> import torch, sptile.torch.distributed as sd
        >>> A = sd.DistSparseMatrix("parts")
        >>> sd.nn.GATConv(4, 2)(torch.ones(A.owned, 4), A).shape
        torch.Size([2286, 2])
        """
        if self.lin is None or self.lin_edge is not None:
            raise UnsupportedError(
                "GATConv on several processes supports neither pairs of node sets nor edge features"
            )
        h = self.lin(x)
        # The backward pass keeps x anyway. Scores that are computed from h would keep h, too.
        weight = self.lin.weight.t()
        alpha_src, alpha_dst = (x @ by for by in self._scores(weight, weight))
        over = A.joined.with_loops() if self.add_self_loops else A.joined
        drops = self.training and self.dropout > 0 and self.drop_weights is not None
        out = attention(
            A,
            alpha_dst,
            alpha_src,
            h.view(-1, self.heads, self.out_channels),
            over=over,
            dropout_p=self.dropout if self.training else 0.0,
            score="additive",
            negative_slope=self.negative_slope,
            drop=partial(self.drop_weights, dropout=self.dropout) if drops else None,
        )
        out = out.flatten(1) if self.concat else out.mean(1)
        if self.res is not None:
            out = out + self.res(x)
        return out if self.bias is None else out + self.bias.to(out.dtype)


__all__ = ["AGNNConv", "GATConv", "GCNConv", "GINConv"]
