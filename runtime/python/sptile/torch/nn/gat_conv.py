"""The layer of graph attention networks (Velickovic et al. 2018)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from ...errors import UnsupportedError, UsageError
from ..functions import sddmm, softmax, spmm
from ..operands import statistic
from .graph import Edges, Features, Graph, GraphLayer, Size, attend, edges_of, node_sets
from .linear import GlorotLinear, glorot_


class GATConv(GraphLayer):
    """Means of the neighbours' W x, weighed by softmax(leaky_relu(a_src . W x_j + a_dst . W x_i)), for each
    head. Arguments and parameters are those of torch_geometric.nn.GATConv.

    forward(x, edge_index, edge_attr=None, size=None, return_attention_weights=None)
    x          [nodes, in_channels], or a pair: of the nodes that send, and of those that receive (or None)
    edge_attr  [edges, edge_dim] or, where edge_dim is 1, [edges], in the order in which edges were given
    size       the numbers of nodes that send and that receive
    result     [nodes, heads out_channels], the mean of the heads [nodes, out_channels] without `concat`. With
               return_attention_weights a pair: the result, and (edges [2, edges], weights [edges, heads]): given
               edges in their order, each of several alike, then loops. With `add_self_loops` given loops are
               left out, and each node gets one.

    in_channels = -1 is the width of the first x. Without dropout, edge features and weights that are returned
    nothing of the size of the edges is made; with them numbers for each edge and head, never features.
    `fill_value`, the edge features of added loops, is a number, a tensor [edge_dim], "mean" or "add".
    """

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        heads: int = 1,
        concat: bool = True,
        negative_slope: float = 0.2,
        dropout: float = 0.0,
        add_self_loops: bool = True,
        edge_dim: int | None = None,
        fill_value: float | Tensor | str = "mean",
        bias: bool = True,
        residual: bool = False,
    ) -> None:
        super().__init__()
        if not isinstance(fill_value, int | float | Tensor) and fill_value not in ("mean", "add", "sum"):
            raise UnsupportedError(
                f"fill_value = {fill_value!r}; use a number, a tensor [edge_dim], 'mean', 'add' or 'sum'"
            )
        self.in_channels, self.out_channels, self.heads, self.concat = (
            in_channels,
            out_channels,
            heads,
            concat,
        )
        self.negative_slope, self.dropout, self.add_self_loops = negative_slope, dropout, add_self_loops
        self.edge_dim, self.fill_value, self.residual = edge_dim, fill_value, residual
        width = heads * out_channels
        self.lin = self.lin_src = self.lin_dst = None
        if isinstance(in_channels, int):
            self.lin = GlorotLinear(in_channels, width)
        else:
            self.lin_src, self.lin_dst = (GlorotLinear(n, width) for n in in_channels)
        self.att_src = nn.Parameter(torch.empty(1, heads, out_channels))
        self.att_dst = nn.Parameter(torch.empty(1, heads, out_channels))
        self.lin_edge = None if edge_dim is None else GlorotLinear(edge_dim, width)
        self.att_edge = None if edge_dim is None else nn.Parameter(torch.empty(1, heads, out_channels))
        total = width if concat else out_channels
        target = in_channels if isinstance(in_channels, int) else in_channels[1]
        self.res = GlorotLinear(target, total) if residual else None
        self.bias = nn.Parameter(torch.empty(total)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for module in self.children():
            module.reset_parameters()  # type: ignore[operator]
        for parameter in (self.att_src, self.att_dst, self.att_edge):
            if parameter is not None:
                glorot_(parameter)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(
        self,
        x: Features,
        edge_index: Graph,
        edge_attr: Tensor | None = None,
        size: Size = None,
        return_attention_weights: bool | None = None,
    ) -> Tensor | tuple[Tensor, tuple[Tensor, Tensor]]:
        source, target, a = node_sets(x, edge_index, size, "GATConv", batches=False)
        lin_src, lin_dst = self.lin or self.lin_src, self.lin or self.lin_dst
        if lin_src is None or lin_dst is None:
            raise UsageError("GATConv has neither lin nor lin_src and lin_dst; keep those that it was made with")
        h = lin_src(source)
        of_target = h if target is source and lin_dst is lin_src else None if target is None else lin_dst(target)
        alpha_src, alpha_dst = self._scores(h, of_target)
        if alpha_dst is None:
            alpha_dst = alpha_src.new_zeros(a.shape[0], self.heads)
        h = h.view(-1, self.heads, self.out_channels)
        p = self.dropout if self.training else 0.0
        listed = None
        if edge_attr is None and not return_attention_weights:
            settings = {"dropout_p": p, "score": "additive", "negative_slope": self.negative_slope}
            out = attend(a, alpha_dst, alpha_src, h, self.add_self_loops, **settings)
        else:
            edges = edges_of(a, self.add_self_loops)
            if return_attention_weights and edges.left_out is not None:
                raise UnsupportedError(
                    "weights of attention in compiled code, where added loops replace an unknown number of edges; "
                    "add the loops to the graph and pass add_self_loops=False"
                )
            formed = statistic(h.dtype)
            with torch.autocast(h.device.type, enabled=False):
                scores = alpha_dst.to(formed), alpha_src.to(formed)
                weights = self._weights(edges, *scores, edge_attr, p)
                out = spmm(edges.matrix, h.to(formed), weights).to(h.dtype)
            listed = torch.stack([edges.col, edges.row]), weights.to(h.dtype)
        out = out.flatten(1) if self.concat else out.mean(1)
        if self.res is not None and target is not None:
            out = out + self.res(target)
        if self.bias is not None:
            out = out + self.bias.to(out.dtype)
        return (out, listed) if return_attention_weights and listed is not None else out

    def _scores(self, source: Tensor, target: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """What nodes of [nodes, heads out_channels] add to scores where they send and where they receive,
        each [nodes, heads]: products with the two vectors of each head, so that nothing of the size of h is
        made."""
        of_head = torch.eye(self.heads, dtype=source.dtype, device=source.device).unsqueeze(1)
        by_src, by_dst = (
            (att.to(source.dtype).transpose(0, 1).transpose(1, 2) * of_head).flatten(0, 1)
            for att in (self.att_src, self.att_dst)
        )
        if source is not target:
            return source @ by_src, None if target is None else target @ by_dst
        both = (source @ torch.cat([by_src, by_dst], 1)).view(-1, 2, self.heads)
        return both[:, 0], both[:, 1]

    def _weights(
        self, edges: Edges, alpha_dst: Tensor, alpha_src: Tensor, edge_attr: Tensor | None, p: float
    ) -> Tensor:
        """What each edge weighs, [edges, heads]."""
        to, by = torch.ones_like(alpha_dst), torch.ones_like(alpha_src)
        scores = sddmm(edges.matrix, torch.stack([alpha_dst, to], -1), torch.stack([by, alpha_src], -1))
        if edge_attr is not None:
            scores = scores + self._of_edges(edge_attr, edges, scores.dtype)
        scores = functional.leaky_relu(scores, self.negative_slope)
        if edges.left_out is not None:
            masked = torch.cat([edges.left_out, edges.left_out.new_zeros(edges.loops)])
            scores = scores.masked_fill(masked.unsqueeze(1), -torch.inf)
        # Dense in the order of the edges, so that dropout draws what it draws in PyG.
        return functional.dropout(softmax(edges.matrix, scores).contiguous(), p)

    def _of_edges(self, edge_attr: Tensor, edges: Edges, dtype: torch.dtype) -> Tensor:
        """What the features of edges add to their scores, [edges, heads]: linear in them, so that added loops
        get the mean or the sum of what the other edges of their node have."""
        if self.lin_edge is None or self.att_edge is None:
            raise UsageError("edge_attr is given, but edge_dim was not")
        if not isinstance(edge_attr, Tensor):
            raise UsageError(f"edge_attr is of type {type(edge_attr).__name__}; pass a tensor [edges, edge_dim]")
        if edge_attr.dim() == 1:
            edge_attr = edge_attr.unsqueeze(1)
        if edge_attr.dim() == 2:
            self.lin_edge.materialize(edge_attr.shape[1])
        given = edges.given
        wanted = [given, self.lin_edge.in_features]
        if list(edge_attr.shape) != wanted or not edge_attr.is_floating_point():
            raise UsageError(
                f"edge_attr is {edge_attr.dtype} {list(edge_attr.shape)}; pass floating-point numbers {wanted}"
            )
        weight = self.lin_edge.weight.view(self.heads, self.out_channels, -1)
        att = self.att_edge.view(self.heads, self.out_channels, 1)
        by_head = (weight.to(dtype) * att.to(dtype)).sum(1)  # [heads, edge_dim]
        scores = edge_attr.to(dtype) @ by_head.t()
        if edges.loops == 0:
            return scores
        if edges.kept is not None:
            scores = scores[edges.kept]
        return torch.cat([scores, self._of_loops(scores, edges, by_head)])

    def _of_loops(self, scores: Tensor, edges: Edges, by_head: Tensor) -> Tensor:
        """What added loops get, [loops, heads], where `scores` are those of the other edges."""
        if not isinstance(self.fill_value, str):
            fill = torch.as_tensor(self.fill_value, dtype=by_head.dtype, device=by_head.device)
            return (by_head * fill).sum(1).expand(edges.loops, -1)
        row = edges.row[: scores.shape[0]]
        counted = torch.ones_like(row)
        if edges.left_out is not None:
            scores = scores.masked_fill(edges.left_out.unsqueeze(1), 0)
            counted = counted.masked_fill(edges.left_out, 0)
        sums = scores.new_zeros(edges.matrix.shape[0], self.heads, dtype=torch.float64)
        sums = sums.index_add(0, row, scores.double())[: edges.loops]
        if self.fill_value == "mean":
            counts = row.new_zeros(edges.matrix.shape[0]).index_add(0, row, counted)[: edges.loops]
            sums = sums / counts.clamp(min=1).unsqueeze(1)
        return sums.to(scores.dtype)

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, heads={self.heads}"
