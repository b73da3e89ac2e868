"""The graph transformer layer of masked label prediction (Shi et al. 2021)."""

from __future__ import annotations

import torch
from torch import Tensor

from ...errors import UsageError
from ..dropout import new_seed
from ..edge_attention import edge_attention
from ..functions import attention, drop_weights, sddmm, segment_reduce, softmax, spmm
from ..gatv2 import every_in_order
from ..matrix import SparseMatrix, cast
from ..operands import statistic
from ..operators import transformed
from ..pattern import inverse
from .edge_features import check_edge_attr
from .graph import Features, Graph, GraphLayer, node_sets
from .linear import Linear

# Columns of a row of edges that CUDA kernels keep in registers.
_MOST_RAW = 128


class TransformerConv(GraphLayer):
    """Graph transformer layer.

    Each head averages the values of the neighbors, ``W_v @ x[j] + W_e @ edge_attr[e]``, with weights ``softmax((W_q @
    x[i]) @ (W_k @ x[j] + W_e @ edge_attr[e]) / sqrt(out_channels))``. Arguments and parameters are those of
    `torch_geometric.nn.TransformerConv`.

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
    beta : bool, optional
        Weight the result and the transformed target features with a learned gate.
    dropout : float, optional
        Probability of dropping an attention weight during training.
    edge_dim : int, optional
        Width of the edge features.
    bias : bool, optional
        Add a bias to the transformed features.
    root_weight : bool, optional
        Add the transformed target features.

    Notes
    -----
    Without dropout, edge features and returned weights, the layer allocates no memory per edge. Dropout keeps none; see
    `sptile.torch.attention`. If edge_dim is at
    most 128 and at most ``4 * out_channels``, edge features are read as they are. The layer transforms queries and sums
    instead: ``q @ (W_e @ e)`` is ``(W_e.T @ q) @ e``. It keeps nothing per edge, and backward allocates four values per
    edge and head. Wider features are transformed, and the result, of shape (edges, heads * out_channels), is kept.
    Returned weights and transforms of `torch.func` allocate that, too.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> layer = st.nn.TransformerConv(4, 2, heads=3)
    >>> layer(torch.ones(3, 4), torch.tensor([[0, 1, 2], [1, 2, 0]])).shape
    torch.Size([3, 6])
    """

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        heads: int = 1,
        concat: bool = True,
        beta: bool = False,
        dropout: float = 0.0,
        edge_dim: int | None = None,
        bias: bool = True,
        root_weight: bool = True,
    ) -> None:
        super().__init__()
        self.in_channels, self.out_channels, self.heads, self.concat = (
            in_channels,
            out_channels,
            heads,
            concat,
        )
        self.beta, self.root_weight = beta and root_weight, root_weight
        self.dropout, self.edge_dim = dropout, edge_dim
        width = heads * out_channels
        total = width if concat else out_channels
        source, target = (in_channels, in_channels) if isinstance(in_channels, int) else in_channels
        self.lin_key = Linear(source, width, bias)
        self.lin_query = Linear(target, width, bias)
        self.lin_value = Linear(source, width, bias)
        self.lin_edge = None if edge_dim is None else Linear(edge_dim, width, bias=False)
        self.lin_skip = Linear(target, total, bias)
        self.lin_beta = Linear(3 * total, 1, bias=False) if self.beta else None

    def reset_parameters(self) -> None:
        """Initializes the parameters.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> layer = st.nn.TransformerConv(4, 2)
        >>> layer.reset_parameters()
        """
        for module in self.children():
            module.reset_parameters()  # type: ignore[operator]

    def forward(
        self,
        x: Features,
        edge_index: Graph,
        edge_attr: Tensor | None = None,
        return_attention_weights: bool | None = None,
    ) -> Tensor | tuple[Tensor, tuple[Tensor, Tensor]]:
        """Applies the layer.

        Parameters
        ----------
        x : Tensor or pair of Tensor
            Features of shape (nodes, in_channels), or a pair: features of source and of target nodes.
        edge_index : Tensor or SparseMatrix
            Edges of shape (2, edges), or the adjacency matrix.
        edge_attr : Tensor, optional
            Edge features of shape (edges, edge_dim), or (edges,) if ``edge_dim == 1``.
        return_attention_weights : bool, optional
            Also return the edges and their weights, before dropout.

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
        >>> layer = st.nn.TransformerConv(4, 2)
        >>> edge_index = torch.tensor([[0, 1, 2], [1, 2, 0]])
        >>> layer(torch.ones(3, 4), edge_index).shape
        torch.Size([3, 2])
        """
        source, target, a = node_sets(x, edge_index, None, "TransformerConv", batches=False)
        if target is None:
            raise UsageError("TransformerConv: queries need features of the target nodes; pass x = (source, target)")
        if (edge_attr is None) != (self.lin_edge is None):
            raise UsageError("edge_attr requires a layer with edge_dim, and such a layer requires edge_attr")
        shape = (-1, self.heads, self.out_channels)
        q, k, v = self.lin_query(target).view(shape), self.lin_key(source).view(shape), self.lin_value(source).view(shape)
        listed = None
        if edge_attr is not None:
            edge_attr = check_edge_attr(edge_attr, self.lin_edge, a._entries.given)
        p = float(self.dropout) if self.training else 0.0
        if edge_attr is None and not return_attention_weights:
            out = attention(a, q, k, v, dropout_p=p)
        elif edge_attr is not None and not return_attention_weights and not transformed():
            out = self._with_features(a, q, k, v, edge_attr, p)
        else:
            out, weights, order = self._in_steps(a, q, k, v, edge_attr, p)
            if return_attention_weights:
                weights = weights if order is None else weights.index_select(0, inverse(order))
                row, col = a.places()
                listed = torch.stack([col, row]), weights.to(v.dtype)
        out = out.flatten(1) if self.concat else out.mean(1)
        if self.root_weight:
            out = self._with_root(out, self.lin_skip(target))
        return out if listed is None else (out, listed)

    def _with_root(self, out: Tensor, root: Tensor) -> Tensor:
        if self.lin_beta is None:
            return out + root
        gate = self.lin_beta(torch.cat([out, root, out - root], -1)).sigmoid()
        mixed: Tensor = gate * root + (1 - gate) * out
        return mixed

    def _with_features(self, a: SparseMatrix, q: Tensor, k: Tensor, v: Tensor, edge_attr: Tensor, p: float) -> Tensor:
        seed = new_seed(v.device) if p > 0 else None
        scale, weight = self.out_channels**-0.5, self._edge_weight()
        if edge_attr.shape[1] <= max(self.out_channels, min(4 * self.out_channels, _MOST_RAW)):
            edges, queries = edge_attr, torch.matmul(q.transpose(0, 1), weight).transpose(0, 1)
        else:
            edges, queries = self._transformed(edge_attr), q
        autocast, given = torch.is_autocast_enabled(v.device.type), (edges, q, k, v, queries)
        tensors = [cast(a, x) if autocast else x.to(v.dtype) for x in given]
        out, sums, _statistics = edge_attention(a._entries, *tensors, seed, p, scale)
        if edges is edge_attr:
            sums = torch.matmul(sums.transpose(0, 1), weight.transpose(1, 2)).transpose(0, 1)
        result: Tensor = out + sums
        return result

    def _edge_weight(self) -> Tensor:
        """Returns the weights of edge features, [heads, out_channels, edge_dim]."""
        if self.lin_edge is None:
            raise UsageError("edge_attr requires a layer with edge_dim")
        return self.lin_edge.weight.view(self.heads, self.out_channels, -1)

    def _transformed(self, edge_attr: Tensor) -> Tensor:
        if self.lin_edge is None:
            raise UsageError("edge_attr requires a layer with edge_dim")
        transformed_features: Tensor = self.lin_edge(edge_attr).view(-1, self.heads, self.out_channels)
        return transformed_features

    def _in_steps(
        self, a: SparseMatrix, q: Tensor, k: Tensor, v: Tensor, edge_attr: Tensor | None, p: float
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Returns the result, the weights [edges, heads] before dropout, and the edge of each; None: all in order. Each
        step has derivatives of all kinds."""
        dtype, formed = v.dtype, statistic(v.dtype)
        every, source = a, None
        if not torch.compiler.is_compiling():
            every, source = every_in_order(a)
        if source is not None and edge_attr is not None:
            edge_attr = edge_attr.index_select(0, source)
        features = None if edge_attr is None else self._transformed(edge_attr)
        with torch.autocast(v.device.type, enabled=False):
            q, k, v = q.to(formed) * self.out_channels**-0.5, k.to(formed), v.to(formed)
            scores = sddmm(every, q, k)
            if features is not None:
                features = features.to(formed)
                row, _col = every.places()
                scores = scores + (q.index_select(0, row) * features).sum(-1)
            weights = softmax(every, scores)
            kept = drop_weights(every, weights, new_seed(v.device) if p > 0 else None, p)
            out = spmm(every, v, kept)
            if features is not None:
                out = out + segment_reduce(every, kept.unsqueeze(-1) * features)
        return out.to(dtype), weights, source

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, heads={self.heads}"
