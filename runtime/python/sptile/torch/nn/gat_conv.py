"""The layer of graph attention networks (Velickovic et al. 2018)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from ...errors import UnsupportedError, UsageError
from ..dropout import new_seed
from ..functions import drop_weights, dropped_product, sddmm, softmax, spmm
from ..operands import statistic
from .edge_features import check_edge_attr, check_fill_value, with_loops
from .graph import Edges, Features, Graph, GraphLayer, Size, attend, edges_of, node_sets, refuse_values
from .linear import GlorotLinear, glorot_


class GATConv(GraphLayer):
    """Graph attention layer (GAT).

    Each head averages the transformed neighbors with weights
    ``softmax(leaky_relu(a_src @ W @ x[j] + a_dst @ W @ x[i]))``. Arguments and parameters are those of
    `torch_geometric.nn.GATConv`.

    Parameters
    ----------
    in_channels : int or pair of int
        Width of x, or of source and target nodes. -1 uses the width of the first x.
    out_channels : int
        Width of the result of each head.
    heads : int, optional
        Number of heads.
    concat : bool, optional
        Concatenate the heads. Otherwise average them.
    negative_slope : float, optional
        Slope of the leaky ReLU.
    dropout : float, optional
        Probability of dropping an attention weight during training.
    add_self_loops : bool, optional
        Replace the self loops of the graph by one per node.
    edge_dim : int, optional
        Width of the edge features.
    fill_value : float, Tensor or str, optional
        Edge features of added self loops: a number, a tensor of shape (edge_dim,), "mean", "add" or "sum".
    bias : bool, optional
        Add a bias.
    residual : bool, optional
        Add a linear transformation of the target features.

    Raises
    ------
    UnsupportedError
        If `fill_value` is unknown.

    Notes
    -----
    Without dropout, edge features and returned weights, the layer allocates no memory per edge. Dropout keeps none; see
    `sptile.torch.attention`. Edge features and returned weights keep one value per edge and head, and its score.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> layer = st.nn.GATConv(4, 2, heads=3)
    >>> layer(torch.ones(3, 4), torch.tensor([[0, 1, 2], [1, 2, 0]])).shape
    torch.Size([3, 6])
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
        check_fill_value(fill_value)
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
        """Initializes the parameters.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> layer = st.nn.GATConv(4, 2)
        >>> layer.reset_parameters()
        """
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
        """Applies the layer.

        Parameters
        ----------
        x : Tensor or pair of Tensor
            Features of shape (nodes, in_channels), or a pair: features of source and of target nodes. The latter
            may be None.
        edge_index : Tensor or SparseMatrix
            Edges of shape (2, edges), or the adjacency matrix.
        edge_attr : Tensor, optional
            Edge features of shape (edges, edge_dim), or (edges,) if ``edge_dim == 1``.
        size : pair of int, optional
            Numbers of source and target nodes.
        return_attention_weights : bool, optional
            Also return the edges and their weights.

        Returns
        -------
        Tensor or tuple
            Result of shape (nodes, heads * out_channels), or (nodes, out_channels) without `concat`. With
            `return_attention_weights` a pair of the result and (edges, weights) of shape (2, edges) and (edges, heads).

        Raises
        ------
        UsageError
            If shapes, types or devices do not match.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> layer = st.nn.GATConv(4, 2)
        >>> edge_index = torch.tensor([[0, 1, 2], [1, 2, 0]])
        >>> layer(torch.ones(3, 4), edge_index).shape
        torch.Size([3, 2])
        """
        source, target, a = node_sets(x, edge_index, size, "GATConv", batches=False)
        if self.lin_edge is not None and edge_attr is None:
            refuse_values(edge_index, a, "GATConv")
        lin_src, lin_dst = self.lin or self.lin_src, self.lin or self.lin_dst
        if lin_src is None or lin_dst is None:
            raise UsageError("GATConv requires its linear layers lin, or lin_src and lin_dst; one was removed")
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
                    "return_attention_weights with add_self_loops is not supported in compiled code; add the loops to "
                    "the graph and pass add_self_loops=False"
                )
            formed = statistic(h.dtype)
            with torch.autocast(h.device.type, enabled=False):
                scores = alpha_dst.to(formed), alpha_src.to(formed)
                weights = self._weights(edges, *scores, edge_attr)
                seed = new_seed(h.device) if p > 0 else None
                if return_attention_weights:
                    weights = drop_weights(edges.matrix, weights, seed, p)
                    out = spmm(edges.matrix, h.to(formed), weights)
                    listed = torch.stack([edges.col, edges.row]), weights.to(h.dtype)
                else:
                    out = dropped_product(edges.matrix, h.to(formed), weights, seed, p)
                out = out.to(h.dtype)
        out = out.flatten(1) if self.concat else out.mean(1)
        if self.res is not None and target is not None:
            out = out + self.res(target)
        if self.bias is not None:
            out = out + self.bias.to(out.dtype)
        return out if listed is None else (out, listed)

    def _scores(self, source: Tensor, target: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Returns the contributions of nodes [nodes, heads out_channels] to scores as sources and as targets, each
        [nodes, heads]: products with the two vectors of each head, which need no tensor of the size of h."""
        of_head = torch.eye(self.heads, dtype=source.dtype, device=source.device).unsqueeze(1)
        by_src, by_dst = (
            (att.to(source.dtype).transpose(0, 1).transpose(1, 2) * of_head).flatten(0, 1)
            for att in (self.att_src, self.att_dst)
        )
        if source is not target:
            return source @ by_src, None if target is None else target @ by_dst
        both = (source @ torch.cat([by_src, by_dst], 1)).view(-1, 2, self.heads)
        return both[:, 0], both[:, 1]

    def _weights(self, edges: Edges, alpha_dst: Tensor, alpha_src: Tensor, edge_attr: Tensor | None) -> Tensor:
        """Returns the attention weights before dropout, [edges, heads]."""
        to, by = torch.ones_like(alpha_dst), torch.ones_like(alpha_src)
        scores = sddmm(edges.matrix, torch.stack([alpha_dst, to], -1), torch.stack([by, alpha_src], -1))
        if edge_attr is not None:
            scores = scores + self._of_edges(edge_attr, edges, scores.dtype)
        scores = functional.leaky_relu(scores, self.negative_slope)
        if edges.left_out is not None:
            masked = torch.cat([edges.left_out, edges.left_out.new_zeros(edges.loops)])
            scores = scores.masked_fill(masked.unsqueeze(1), -torch.inf)
        return softmax(edges.matrix, scores)

    def _of_edges(self, edge_attr: Tensor, edges: Edges, dtype: torch.dtype) -> Tensor:
        """Returns the contributions of edge features to scores, [edges, heads]. They are linear, so added loops get
        the mean or sum of the contributions of the node's other edges."""
        edge_attr = check_edge_attr(edge_attr, self.lin_edge, edges.given)
        if self.lin_edge is None or self.att_edge is None:
            raise UsageError("edge_attr requires the parameters of edges; att_edge was removed")
        weight = self.lin_edge.weight.view(self.heads, self.out_channels, -1)
        att = self.att_edge.view(self.heads, self.out_channels, 1)
        by_head = (weight.to(dtype) * att.to(dtype)).sum(1)  # [heads, edge_dim]
        fill = self.fill_value
        if not isinstance(fill, str):
            fill = (by_head * torch.as_tensor(fill, dtype=dtype, device=by_head.device)).sum(1)
        return with_loops(edge_attr.to(dtype) @ by_head.t(), edges, fill)

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, heads={self.heads}"
