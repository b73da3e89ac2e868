"""The layer of graph attention networks whose scores are not static (Brody et al. 2022)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from ...errors import UnsupportedError, UsageError
from ..dropout import new_seed
from ..functions import drop_weights, softmax, spmm
from ..gatv2 import every_in_order
from ..gatv2 import gatv2 as gatv2_operator
from ..gatv2_edges import MOST_CUDA_COLUMNS, MOST_FEATURES, gatv2_edges
from ..matrix import SparseMatrix, cast
from ..operands import statistic
from ..operators import transformed
from .edge_features import FillValue, check_edge_attr, check_fill_value, with_loops
from .graph import Edges, Features, Graph, GraphLayer, attended, edges_of, node_sets, refuse_values
from .linear import GlorotLinear, Linear, glorot_


# CUDA kernels move rows in pieces of 16 bytes, 8 elements of the smallest type. Other rows take a slower kernel.
_PIECE = 8


def _missing(x: Tensor, n: int) -> int:
    """Returns the number of zeros that complete a row of n columns."""
    return -n % _PIECE if x.is_cuda else 0


def _padded(x: Tensor, n: int) -> Tensor:
    return functional.pad(x, (0, missing)) if (missing := _missing(x, n)) > 0 else x


class GATv2Conv(GraphLayer):
    """Graph attention layer with dynamic scores (GATv2).

    Each head averages the transformed neighbors ``W_l @ x[j]`` with weights
    ``softmax(att @ leaky_relu(W_l @ x[j] + W_r @ x[i] + W_e @ edge_attr[e]))``. Arguments and parameters are those of
    `torch_geometric.nn.GATv2Conv`.

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
        Add a bias to the transformed features and to the result.
    share_weights : bool, optional
        Transform source and target nodes with the same weights.
    residual : bool, optional
        Add a linear transformation of the target features.

    Raises
    ------
    UnsupportedError
        If `fill_value` is unknown.

    Notes
    -----
    Without edge features, the layer keeps no memory per edge. With dropout, both passes allocate one value per edge and
    head; see `sptile.torch.attention`. Up to 16 edge features that need no gradient are read as they are; the backward
    pass allocates them once more, and one value per edge and head. Otherwise transformed edge features, of shape (edges,
    heads * out_channels), are allocated once, and their gradient once. Returned weights and transforms of `torch.func`
    allocate features per edge.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> layer = st.nn.GATv2Conv(4, 2, heads=3)
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
        fill_value: FillValue = "mean",
        bias: bool = True,
        share_weights: bool = False,
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
        self.edge_dim, self.fill_value = edge_dim, fill_value
        self.share_weights, self.residual = share_weights, residual
        width = heads * out_channels
        source, target = (in_channels, in_channels) if isinstance(in_channels, int) else in_channels
        self.lin_l = GlorotLinear(source, width, bias)
        self.lin_r = self.lin_l if share_weights else GlorotLinear(target, width, bias)
        self.att = nn.Parameter(torch.empty(1, heads, out_channels))
        self.lin_edge = None if edge_dim is None else GlorotLinear(edge_dim, width)
        total = width if concat else out_channels
        self.res = GlorotLinear(target, total) if residual else None
        self.bias = nn.Parameter(torch.empty(total)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initializes the parameters.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> layer = st.nn.GATv2Conv(4, 2)
        >>> layer.reset_parameters()
        """
        for module in self.children():
            module.reset_parameters()  # type: ignore[operator]
        glorot_(self.att)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

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
        >>> layer = st.nn.GATv2Conv(4, 2)
        >>> edge_index = torch.tensor([[0, 1, 2], [1, 2, 0]])
        >>> layer(torch.ones(3, 4), edge_index).shape
        torch.Size([3, 2])
        """
        source, target, a = node_sets(x, edge_index, None, "GATv2Conv", batches=False)
        if self.lin_edge is not None and edge_attr is None:
            refuse_values(edge_index, a, "GATv2Conv")
        if target is None:
            raise UsageError("GATv2Conv: scores need features of the target nodes; pass x = (source, target)")
        shape = (-1, self.heads, self.out_channels)
        x_l = self.lin_l(source)
        x_r = x_l if target is source and self.lin_r is self.lin_l else self.lin_r(target)
        x_l, x_r = x_l.view(shape), x_r.view(shape)
        p = self.dropout if self.training else 0.0
        listed = None
        if edge_attr is None and p == 0 and not return_attention_weights and not transformed():
            entries, masks = attended(a, self.add_self_loops)
            bias = None if masks is None else masks.unsqueeze(0).expand(self.heads, -1)
            out = self._attend(entries, x_r, x_l, bias)
        else:
            edges = edges_of(a, self.add_self_loops)
            if return_attention_weights and edges.left_out is not None:
                raise UnsupportedError(
                    "return_attention_weights with add_self_loops is not supported in compiled code; add the loops to "
                    "the graph and pass add_self_loops=False"
                )
            if edge_attr is not None:
                edge_attr = check_edge_attr(edge_attr, self.lin_edge, edges.given)
                edge_attr = with_loops(edge_attr, edges, self.fill_value)
            seed = new_seed(x_l.device) if p > 0 else None
            if return_attention_weights or transformed():
                out, weights = self._in_steps(edges, x_r, x_l, edge_attr, seed, p)
                listed = torch.stack([edges.col, edges.row]), weights
            else:
                out = self._of_edges(edges, x_r, x_l, edge_attr, seed, p)
        out = out.flatten(1) if self.concat else out.mean(1)
        if self.res is not None:
            out = out + self.res(target)
        if self.bias is not None:
            out = out + self.bias.to(out.dtype)
        return (out, listed) if return_attention_weights and listed is not None else out

    def _attend(
        self,
        a: SparseMatrix,
        x_r: Tensor,
        x_l: Tensor,
        bias: Tensor | None,
        edge_attr: Tensor | None = None,
        seed: Tensor | None = None,
        p: float = 0.0,
    ) -> Tensor:
        n, unpadded = x_l.shape[2], [x_r, x_l, self.att.squeeze(0)]
        tensors = [*(_padded(x, n) for x in unpadded), bias]
        lin = None if edge_attr is None else self._read_by(edge_attr)
        tensors += [self._padded_edges(edge_attr)] if lin is None else [edge_attr, self._padded_weight(lin)]
        if torch.is_autocast_enabled(x_l.device.type):
            tensors = [cast(a, x) for x in tensors]
        else:
            tensors = [None if x is None else x.to(x_l.dtype) for x in tensors]
        operator = gatv2_operator if lin is None else gatv2_edges
        out, _statistics = operator(a._entries, *tensors, seed, p, float(self.negative_slope))
        result: Tensor = out[..., :n]
        return result

    def _read_by(self, edge_attr: Tensor) -> Linear | None:
        """Returns `lin_edge` if kernels multiply the features by its weights: it does nothing else, and the features
        are few and need no gradient."""
        lin = self.lin_edge
        if type(lin) is not GlorotLinear or lin._forward_hooks or lin._forward_pre_hooks or lin._backward_hooks:
            return None
        narrow = 1 <= edge_attr.shape[1] <= MOST_FEATURES
        held = not edge_attr.is_cuda or self.out_channels <= MOST_CUDA_COLUMNS
        fixed = not (edge_attr.requires_grad and torch.is_grad_enabled())
        return lin if narrow and held and fixed else None

    def _transformed(self, edge_attr: Tensor | None) -> Tensor | None:
        if edge_attr is None or self.lin_edge is None:
            return None
        return self.lin_edge(edge_attr).view(-1, self.heads, self.out_channels)

    def _padded_weight(self, lin_edge: Linear) -> Tensor:
        """Returns the weights of features, [heads, out_channels, edge_dim], with zeros that complete the pieces of
        rows of transformed features."""
        weight = lin_edge.weight.view(self.heads, self.out_channels, -1)
        missing = _missing(weight, self.out_channels)
        return functional.pad(weight, (0, 0, 0, missing)) if missing > 0 else weight

    def _padded_edges(self, edge_attr: Tensor | None) -> Tensor | None:
        """Returns transformed features whose rows have complete pieces. The weights are padded, not the features."""
        if edge_attr is None or self.lin_edge is None or _missing(edge_attr, self.out_channels) == 0:
            return self._transformed(edge_attr)
        weight = self._padded_weight(self.lin_edge)
        return functional.linear(edge_attr, weight.flatten(0, 1)).view(-1, self.heads, weight.shape[1])

    def _of_edges(
        self, edges: Edges, x_r: Tensor, x_l: Tensor, edge_attr: Tensor | None, seed: Tensor | None, p: float
    ) -> Tensor:
        """Attention whose edges have features or dropout. Features are sorted before they are transformed, because the
        transformed ones are wider."""
        matrix, bias = edges.matrix, None
        if edges.left_out is not None:
            masks = torch.where(edges.left_out, -torch.inf, 0.0).to(x_l.dtype)
            bias = torch.cat([masks, masks.new_zeros(edges.loops)]).unsqueeze(0).expand(self.heads, -1)
        elif edge_attr is not None and not torch.compiler.is_compiling():
            matrix, source = every_in_order(edges.matrix)
            if source is not None:
                edge_attr = edge_attr.index_select(0, source)
        return self._attend(matrix, x_r, x_l, bias, edge_attr, seed, p)

    def _in_steps(
        self, edges: Edges, x_r: Tensor, x_l: Tensor, edge_attr: Tensor | None, seed: Tensor | None, p: float
    ) -> tuple[Tensor, Tensor]:
        """Result and weights [edges, heads]. Allocates features per edge; each step has derivatives of all kinds."""
        dtype, formed = x_l.dtype, statistic(x_l.dtype)
        features = self._transformed(edge_attr)
        with torch.autocast(x_l.device.type, enabled=False):
            x_r, x_l = x_r.to(formed), x_l.to(formed)
            z = x_r.index_select(0, edges.row) + x_l.index_select(0, edges.col)
            if features is not None:
                z = z + features.to(formed)
            scores = (functional.leaky_relu(z, self.negative_slope) * self.att.to(formed)).sum(-1)
            weights = drop_weights(edges.matrix, softmax(edges.matrix, scores), seed, p)
            return spmm(edges.matrix, x_l, weights).to(dtype), weights.to(dtype)

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, heads={self.heads}"
