"""Layers over a divided graph: those of sptile.torch.nn, with their parameters, on the rows that a rank owns.

forward(x, A): x [owned, n], A a DistSparseMatrix. Weights are the same in all ranks: DistributedDataParallel keeps
them so, or add up gradients of a loss over all ranks.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from ...errors import UnsupportedError
from .. import nn as single
from ..nn.gcn_conv import aggregate_first
from .functions import attention
from .matrix import DistSparseMatrix


class GCNConv(single.GCNConv):
    """D^-1/2 (A + I) D^-1/2 x W + b. A matrix that gcn_norm made is taken as it is; another one is normalised
    once."""

    def forward(self, x: Tensor, A: DistSparseMatrix) -> Tensor:  # type: ignore[override]
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
    """nn((1 + eps) x + A x), A without weights."""

    def forward(self, x: Tensor, A: DistSparseMatrix) -> Tensor:  # type: ignore[override]
        out: Tensor = self.nn((1 + self.eps).to(x.dtype) * x + A.unweighted() @ x)
        return out


class AGNNConv(single.AGNNConv):
    """Means of neighbours, weighed by softmax(beta cos(x_i, x_j))."""

    def forward(self, x: Tensor, A: DistSparseMatrix) -> Tensor:  # type: ignore[override]
        unit = functional.normalize(x, dim=-1)
        over = A.joined.with_loops() if self.add_self_loops else A.joined
        return attention(A, self.beta * unit, unit, x, over=over, scale=1.0)


class GATConv(single.GATConv):
    """Additive attention. Edge features and weights that are returned are refused."""

    def forward(self, x: Tensor, A: DistSparseMatrix) -> Tensor:  # type: ignore[override]
        if self.lin is None or self.lin_edge is not None:
            raise UnsupportedError(
                "GATConv over several processes has one kind of node, and no edge features"
            )
        h = self.lin(x)
        alpha_src, alpha_dst = self._scores(h, h)
        over = A.joined.with_loops() if self.add_self_loops else A.joined
        out = attention(
            A,
            alpha_dst,
            alpha_src,
            h.view(-1, self.heads, self.out_channels),
            over=over,
            dropout_p=self.dropout if self.training else 0.0,
            score="additive",
            negative_slope=self.negative_slope,
        )
        out = out.flatten(1) if self.concat else out.mean(1)
        if self.res is not None:
            out = out + self.res(x)
        return out if self.bias is None else out + self.bias.to(out.dtype)


__all__ = ["AGNNConv", "GATConv", "GCNConv", "GINConv"]
