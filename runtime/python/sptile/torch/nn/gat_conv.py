"""The layer of graph attention networks (Velickovic et al. 2018)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from ...errors import UnsupportedError, UsageError
from ..functions import attention, sddmm, softmax, spmm
from ..matrix import SparseMatrix
from .graph import Graph, attended, matrix_of
from .linear import GlorotLinear, glorot_


class GATConv(nn.Module):
    """Means of the neighbours' W x, weighed by softmax(leaky_relu(a_src . W x_j + a_dst . W x_i)), for each
    head. Arguments and parameters are those of torch_geometric.nn.GATConv.

    forward(x, edge_index, edge_attr=None, return_attention_weights=None): x [nodes, in_channels], or a pair:
    of the nodes that send, and of those that receive; the result [nodes, heads out_channels], the mean of the
    heads [nodes, out_channels] without `concat`. Without dropout, edge features and weights that are returned
    nothing of the size of the edges is made; with them numbers for each edge and head, never features.
    `fill_value`, the edge features of added loops, is a number, "mean" or "add".
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
        fill_value: float | str = "mean",
        bias: bool = True,
        residual: bool = False,
    ) -> None:
        super().__init__()
        if fill_value not in ("mean", "add") and not isinstance(fill_value, int | float):
            raise UnsupportedError(f"fill_value = {fill_value!r}; use a number, 'mean' or 'add'")
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
        x: Tensor | tuple[Tensor, Tensor],
        edge_index: Graph,
        edge_attr: Tensor | None = None,
        return_attention_weights: bool | None = None,
    ) -> Tensor | tuple[Tensor, tuple[Tensor, Tensor]]:
        source, target = (x, x) if isinstance(x, Tensor) else x
        if self.lin is not None:
            h = self.lin(source)
            of_target = h if target is source else self.lin(target)
        else:
            assert self.lin_src is not None and self.lin_dst is not None
            h, of_target = self.lin_src(source), self.lin_dst(target)
        alpha_src, alpha_dst = self._scores(h, of_target)
        h = h.view(-1, self.heads, self.out_channels)
        a, repeated = attended(edge_index, target.shape[0], source.shape[0], self.add_self_loops)
        bias = None if repeated is None else repeated.to(h.dtype)
        p = self.dropout if self.training else 0.0
        weights = None
        if edge_attr is None and not return_attention_weights:
            out = attention(
                a,
                alpha_dst,
                alpha_src,
                h,
                bias=bias,
                dropout_p=p,
                score="additive",
                negative_slope=self.negative_slope,
            )
        else:
            of_edges = None if edge_attr is None else self._of_edges(edge_attr, edge_index, a)
            weights = self._weights(a, alpha_dst, alpha_src, of_edges, bias, p)
            out = spmm(a, h, weights)
        out = out.flatten(1) if self.concat else out.mean(1)
        if self.res is not None:
            out = out + self.res(target)
        if self.bias is not None:
            out = out + self.bias.to(out.dtype)
        if not return_attention_weights:
            return out
        assert weights is not None
        return out, (torch.stack([a.pattern.col.long(), a.pattern.row()]), weights)

    def _scores(self, source: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """What nodes of [nodes, heads out_channels] add to scores where they send and where they receive,
        each [nodes, heads]: products with the two vectors of each head, so that nothing of the size of h is
        made."""
        of_head = torch.eye(self.heads, dtype=source.dtype, device=source.device).unsqueeze(1)
        by_src, by_dst = (
            (att.to(source.dtype).transpose(0, 1).transpose(1, 2) * of_head).flatten(0, 1)
            for att in (self.att_src, self.att_dst)
        )
        if source is not target:
            return source @ by_src, target @ by_dst
        both = (source @ torch.cat([by_src, by_dst], 1)).view(-1, 2, self.heads)
        return both[:, 0], both[:, 1]

    def _weights(
        self,
        a: SparseMatrix,
        alpha_dst: Tensor,
        alpha_src: Tensor,
        of_edges: Tensor | None,
        bias: Tensor | None,
        p: float,
    ) -> Tensor:
        """What each edge weighs, [entries, heads]."""
        to, by = torch.ones_like(alpha_dst), torch.ones_like(alpha_src)
        scores = sddmm(a, torch.stack([alpha_dst, to], -1), torch.stack([by, alpha_src], -1))
        if of_edges is not None:
            scores = scores + of_edges
        scores = functional.leaky_relu(scores, self.negative_slope)
        if bias is not None:
            scores = scores + bias.unsqueeze(1)
        return functional.dropout(softmax(a, scores), p)

    def _of_edges(self, edge_attr: Tensor, edge_index: Graph, entries: SparseMatrix) -> Tensor:
        """What the features of edges add to their scores, [entries, heads]: linear in them, so that added
        loops get the mean or the sum of what the other edges of their node have."""
        if self.lin_edge is None or self.att_edge is None:
            raise UsageError("edge_attr is given, but edge_dim was not")
        rows, cols = entries.shape
        a = matrix_of(edge_index, rows, cols)
        if a._order.given != a.nnz:
            raise UnsupportedError("features of edges of a graph that has an edge several times")
        weight = self.lin_edge.weight.view(self.heads, self.out_channels, -1)
        by_head = (weight * self.att_edge.view(self.heads, self.out_channels, 1)).sum(1)  # [heads, edge_dim]
        given = a._order.to_csr(edge_attr.reshape(edge_attr.shape[0], -1) @ by_head.t())
        if not self.add_self_loops:
            return given
        row, col = a.pattern.row(), a.pattern.col.long()
        others = row != col
        row, col, given = row[others], col[others], given[others]
        of_loops = given.new_zeros(rows, self.heads).index_add(0, row, given)
        if self.fill_value == "mean":
            counts = given.new_zeros(rows).index_add(0, row, given.new_ones(row.numel()))
            of_loops = of_loops / counts.clamp(min=1).unsqueeze(1)
        elif not isinstance(self.fill_value, str):
            of_loops = (self.fill_value * by_head.sum(1)).expand(rows, -1)
        row_of = entries.pattern.row()
        place = torch.searchsorted(row_of * cols + entries.pattern.col, row * cols + col)
        return of_loops.index_select(0, row_of).index_copy(0, place, given)

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, heads={self.heads}"
