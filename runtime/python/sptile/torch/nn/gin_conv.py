"""The layer of graph isomorphism networks (Xu et al. 2019)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from ..functions import spmm
from .graph import Graph, matrix_of, unweighted


class GINConv(nn.Module):
    """nn((1 + eps) x + A x), A without weights. Arguments and parameters are those of
    torch_geometric.nn.GINConv.

    forward(x, edge_index): x [nodes, n], or a pair: of the nodes that send, and of those that receive.
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
        if isinstance(self.nn, torch.nn.Module):
            for module in self.nn.modules():
                if hasattr(module, "reset_parameters"):
                    module.reset_parameters()  # type: ignore[operator]
        nn.init.constant_(self.eps, self.initial_eps)

    def forward(self, x: Tensor | tuple[Tensor, Tensor], edge_index: Graph) -> Tensor:
        source, target = (x, x) if isinstance(x, Tensor) else x
        a = unweighted(matrix_of(edge_index, target.shape[0], source.shape[0]))
        out = spmm(a, source)
        own = (1 + self.eps).to(out.dtype) * target.to(out.dtype)
        result: Tensor = self.nn(out + own)
        return result
