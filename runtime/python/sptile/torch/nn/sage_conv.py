"""The layer of GraphSAGE (Hamilton et al. 2017), with the mean or the sum of all neighbours."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ...errors import UnsupportedError
from ..functions import spmm
from .gcn_conv import aggregate_first
from .graph import Graph, matrix_of, mean, unweighted


class SAGEConv(nn.Module):
    """W_l aggregate(x of the neighbours) + W_r x. Arguments and parameters are those of
    torch_geometric.nn.SAGEConv; aggr is "mean", "sum" or "add".

    forward(x, edge_index): x [nodes, in_channels], or a pair: of the nodes that send, and of those that
    receive.
    """

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        aggr: str = "mean",
        normalize: bool = False,
        root_weight: bool = True,
        project: bool = False,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if aggr not in ("mean", "sum", "add"):
            raise UnsupportedError(f"aggr = {aggr!r}; use 'mean', 'sum' or 'add'")
        self.in_channels, self.out_channels, self.aggr = in_channels, out_channels, aggr
        self.normalize, self.root_weight, self.project = normalize, root_weight, project
        source, target = (in_channels, in_channels) if isinstance(in_channels, int) else in_channels
        if project:
            self.lin = nn.Linear(source, source)
        self.lin_l = nn.Linear(source, out_channels, bias=bias)
        if root_weight:
            self.lin_r = nn.Linear(target, out_channels, bias=False)

    def reset_parameters(self) -> None:
        for module in self.children():
            module.reset_parameters()  # type: ignore[operator]

    def forward(self, x: Tensor | tuple[Tensor, Tensor], edge_index: Graph) -> Tensor:
        source, target = (x, x) if isinstance(x, Tensor) else x
        a = matrix_of(edge_index, target.shape[0], source.shape[0])
        a = mean(a, source.dtype) if self.aggr == "mean" else unweighted(a)
        if self.project:
            source = self.lin(source).relu()
        if aggregate_first(source.shape[1], self.out_channels, source.requires_grad, torch.is_grad_enabled()):
            out = self.lin_l(spmm(a, source))
        else:
            out = spmm(a, nn.functional.linear(source, self.lin_l.weight))
            out = out if self.lin_l.bias is None else out + self.lin_l.bias.to(out.dtype)
        if self.root_weight:
            out = out + self.lin_r(target)
        return nn.functional.normalize(out, dim=-1) if self.normalize else out

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, aggr={self.aggr}"
