"""The layer of graph isomorphism networks (Xu et al. 2019)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from .graph import Features, Graph, GraphLayer, Size, node_sets, total


class GINConv(GraphLayer):
    """nn((1 + eps) x + A x), A without weights. Arguments and parameters are those of
    torch_geometric.nn.GINConv.

    forward(x, edge_index, size=None): x [..., nodes, n], or a pair: of the nodes that send, and of those that
    receive (or None); `size` are the numbers of both.
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

    def forward(self, x: Features, edge_index: Graph, size: Size = None) -> Tensor:
        source, target, a = node_sets(x, edge_index, size, "GINConv")
        out = total(a, source)
        if target is not None:
            out = out + (1 + self.eps).to(out.dtype) * target.to(out.dtype)
        result: Tensor = self.nn(out)
        return result
