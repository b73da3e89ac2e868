"""The propagation layer of attention-based graph networks (Thekumparampil et al. 2018)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..functions import attention
from .graph import Graph, attended


class AGNNConv(nn.Module):
    """Means of neighbours, weighed by softmax(beta cos(x_i, x_j)). Arguments and parameters are those of
    torch_geometric.nn.AGNNConv.

    forward(x, edge_index): x and the result [nodes, n]. Nothing of the size of the edges is made.
    """

    def __init__(self, requires_grad: bool = True, add_self_loops: bool = True) -> None:
        super().__init__()
        self.requires_grad, self.add_self_loops = requires_grad, add_self_loops
        if requires_grad:
            self.beta: Tensor = nn.Parameter(torch.empty(1))
        else:
            self.register_buffer("beta", torch.ones(1))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        if self.requires_grad:
            nn.init.ones_(self.beta)

    def forward(self, x: Tensor, edge_index: Graph) -> Tensor:
        a, repeated = attended(edge_index, x.shape[0], x.shape[0], self.add_self_loops)
        unit = nn.functional.normalize(x, dim=-1)
        bias = None if repeated is None else repeated.to(x.dtype)
        # beta is on the device: scores are dot products of beta x_i and x_j.
        return attention(a, self.beta * unit, unit, x, scale=1.0, bias=bias)
