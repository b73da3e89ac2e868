"""The layer of GraphSAGE (Hamilton et al. 2017), with the mean or the sum of all neighbours."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ...errors import UnsupportedError, UsageError
from .gcn_conv import aggregate_first
from .graph import Features, Graph, GraphLayer, Size, mean, node_sets, total
from .linear import Linear


class SAGEConv(GraphLayer):
    """W_l aggregate(x of the neighbours) + W_r x. Arguments and parameters are those of
    torch_geometric.nn.SAGEConv; aggr is "mean", "sum" or "add".

    forward(x, edge_index, size=None): x [..., nodes, in_channels], or a pair: of the nodes that send, and of
    those that receive (or None); `size` are the numbers of both. in_channels = -1 is the width of the first x.
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
            if source == -1:
                raise UsageError("project = True with in_channels = -1; pass the width of x")
            self.lin = Linear(source, source)
        self.lin_l = Linear(source, out_channels, bias=bias)
        if root_weight:
            self.lin_r = Linear(target, out_channels, bias=False)

    def reset_parameters(self) -> None:
        for module in self.children():
            module.reset_parameters()  # type: ignore[operator]

    def forward(self, x: Features, edge_index: Graph, size: Size = None) -> Tensor:
        source, target, a = node_sets(x, edge_index, size, "SAGEConv")
        aggregate = mean if self.aggr == "mean" else total
        if self.project:
            source = self.lin(source).relu()
        self.lin_l.materialize(source.shape[-1])
        training = torch.is_grad_enabled()
        if aggregate_first(source.shape[-1], self.out_channels, source.requires_grad, training):
            out = self.lin_l(aggregate(a, source))
        else:
            out = aggregate(a, nn.functional.linear(source, self.lin_l.weight))
            out = out if self.lin_l.bias is None else out + self.lin_l.bias.to(out.dtype)
        if self.root_weight and target is not None:
            out = out + self.lin_r(target)
        return nn.functional.normalize(out, dim=-1) if self.normalize else out

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, aggr={self.aggr}"
