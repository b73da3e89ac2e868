"""The layer of relational graph convolutional networks (Schlichtkrull et al. 2018)."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ...errors import UnsupportedError, UsageError
from ..matrix import SparseMatrix
from ..operators import unchanged
from ..pattern import check_ids, check_list_of_ids
from ..reductions import AGGREGATIONS, propagate
from .graph import Features, Graph, GraphLayer, matrix_of, types_of
from .linear import glorot_
from .order import aggregate_first


_EXTREMES = ("max", "min")  # they do not commute with linear layers, nor with the sum over relations


class Relations(NamedTuple):
    """The edges of all relations in one matrix, whose entries are in the order of the edges."""

    types: Tensor  # a copy of the relation of each edge
    number: int
    targets: SparseMatrix  # row i * number + r has the edges of relation r to node i
    sources: SparseMatrix  # column j * number + r has the edges of relation r from node j


def relations_of(a: SparseMatrix, edge_type: Tensor, number: int) -> Relations:
    """Returns the matrices of the relations of a graph, which the matrix keeps while the types are unchanged."""
    check_list_of_ids(edge_type, "edge_type")
    compiling = torch.compiler.is_compiling()
    kept = None if compiling else a._derived.get("relations")
    if kept is not None and kept.number == number and unchanged(kept.types, edge_type):
        return kept
    if edge_type.shape[0] != a._entries.given:
        raise UsageError(f"edge_type must have {a._entries.given} elements, one per edge, got {edge_type.shape[0]}")
    if edge_type.device != a.device:
        raise UsageError(f"edge_type must be on {a.device}, the device of the graph, got {edge_type.device}")
    if not compiling:
        check_ids(edge_type, "edge_type", number)
        a._derived.pop("relations", None)
        return a._derive("relations", lambda: _relations(a, edge_type.clone(), number))
    return _relations(a, edge_type, number)


def _relations(a: SparseMatrix, types: Tensor, number: int) -> Relations:
    row, col = a.places()
    rows, cols = a.shape
    kind = types.to(torch.int64)
    targets = SparseMatrix._of_entries(row * number + kind, col, None, (rows * number, cols))
    sources = SparseMatrix._of_entries(row, col * number + kind, None, (rows, cols * number))
    return Relations(types, number, targets, sources)


class RGCNConv(GraphLayer):
    """Relational graph convolution: ``W_root @ x[i]`` plus, for each relation r, ``W_r`` times the mean of neighbors.

    Arguments and parameters are those of `torch_geometric.nn.RGCNConv`. All relations are one product with a matrix of
    nodes times relations, and one dense product, in the order that loads fewer bytes.

    Parameters
    ----------
    in_channels : int or pair of int
        Width of x, or of source and target nodes. The number of nodes if x is None or contains ids.
    out_channels : int
        Width of the result.
    num_relations : int
        Number of relations.
    num_bases : int, optional
        Combine the weights of a relation from this number of bases.
    num_blocks : int, optional
        Use block-diagonal weights with this number of blocks.
    aggr : str, optional
        Aggregation in each relation: "mean", "sum" or "add", "max" or "min".
    root_weight : bool, optional
        Add the transformed features of the node.
    is_sorted : bool, optional
        Ignored. The order of edges does not affect the result.
    bias : bool, optional
        Add a bias.

    Raises
    ------
    UnsupportedError
        If the aggregation is unknown.
    UsageError
        If both decompositions are requested, or the blocks do not divide the widths.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> layer = st.nn.RGCNConv(4, 2, num_relations=2)
    >>> layer(torch.ones(3, 4), torch.tensor([[0, 1, 2], [1, 2, 0]]), torch.tensor([0, 1, 1])).shape
    torch.Size([3, 2])
    """

    bias: Tensor | None

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        num_relations: int,
        num_bases: int | None = None,
        num_blocks: int | None = None,
        aggr: str = "mean",
        root_weight: bool = True,
        is_sorted: bool = False,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if aggr not in AGGREGATIONS:
            raise UnsupportedError(f"aggr must be {', '.join(map(repr, AGGREGATIONS))}, got {aggr!r}")
        if num_bases is not None and num_blocks is not None:
            raise UsageError("num_bases and num_blocks exclude each other; pass one of them")
        self.in_channels, self.out_channels, self.num_relations = in_channels, out_channels, num_relations
        self.num_bases, self.num_blocks, self.aggr, self.is_sorted = num_bases, num_blocks, aggr, is_sorted
        source, target = (in_channels, in_channels) if isinstance(in_channels, int) else in_channels
        self.in_channels_l = source
        shape: tuple[int, ...] = (num_relations if num_bases is None else num_bases, source, out_channels)
        if num_blocks is not None:
            if num_blocks < 1 or source % num_blocks or out_channels % num_blocks:
                raise UsageError(f"num_blocks must divide {source} and {out_channels}, got {num_blocks}")
            shape = (num_relations, num_blocks, source // num_blocks, out_channels // num_blocks)
        self.weight = nn.Parameter(torch.empty(shape))
        self.comp = None if num_bases is None else nn.Parameter(torch.empty(num_relations, num_bases))
        self.root = nn.Parameter(torch.empty(target, out_channels)) if root_weight else None
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initializes the parameters.

        Examples
        --------
        >>> import sptile.torch as st
        >>> layer = st.nn.RGCNConv(4, 2, num_relations=2)
        >>> layer.reset_parameters()
        """
        super().reset_parameters()
        for weight in (self.weight, self.comp, self.root):
            if weight is not None:
                glorot_(weight)

    def forward(self, x: Features | None, edge_index: Graph, edge_type: Tensor | None = None) -> Tensor:
        """Applies the layer.

        Parameters
        ----------
        x : Tensor, pair of Tensor or None
            Features of shape (nodes, in_channels), ids of embeddings of shape (nodes,), or a pair: of source and of
            target nodes. None: each node has its own embedding.
        edge_index : Tensor or SparseMatrix
            Edges of shape (2, edges), or the adjacency matrix.
        edge_type : Tensor, optional
            Relation of each edge, int32 or int64, shape (edges,). For a SparseMatrix in the order in which its nonzeros
            were given. By default the values of `edge_index`, which must be a SparseTensor.

        Returns
        -------
        Tensor
            Result of shape (nodes, out_channels).

        Raises
        ------
        UsageError, BadInputError
            If shapes, types or devices do not match, or a relation does not exist.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> layer = st.nn.RGCNConv(3, 2, num_relations=2)
        >>> layer(None, torch.tensor([[0, 1, 2], [1, 2, 0]]), torch.tensor([0, 1, 1])).shape
        torch.Size([3, 2])
        """
        source, target = self._nodes(x)
        if edge_type is None:
            edge_index, edge_type = types_of(edge_index)
        a = matrix_of(edge_index, target.shape[0], source.shape[0])
        relations = relations_of(a, edge_type, self.num_relations)
        if source.is_floating_point():
            out = self._of_features(relations, source)
        elif self.num_blocks is None:
            # [nodes, relations, out_channels]
            out = self._gathered(relations, self._weights().transpose(0, 1)[source])
        else:
            raise UsageError("num_blocks requires features; ids of embeddings have no blocks")
        if self.root is not None:
            out = out + (target @ self.root if target.is_floating_point() else self.root[target]).to(out.dtype)
        return out if self.bias is None else out + self.bias.to(out.dtype)

    def _nodes(self, x: Features | None) -> tuple[Tensor, Tensor]:
        """Returns features or ids of the source and of the target nodes."""
        is_pair = isinstance(x, tuple | list)
        source: Any
        target: Any
        source, target = x if is_pair else (x, x)  # type: ignore[misc]
        if source is None:
            source = torch.arange(self.in_channels_l, device=self.weight.device)
        target = target if is_pair else source
        for one in (source, target):
            if not isinstance(one, Tensor) or one.dim() != (2 if one.is_floating_point() else 1):
                found = list(one.shape) if isinstance(one, Tensor) else type(one).__name__
                raise UsageError(
                    f"RGCNConv: x must be features [nodes, n] or ids [nodes], or a pair of them, got {found}"
                )
        return source, target

    def _weights(self) -> Tensor:
        """Returns the weights of all relations: [relations, n, m], or with blocks [relations, blocks, n, m]."""
        if self.comp is None:
            return self.weight
        return (self.comp @ self.weight.flatten(1)).view(-1, *self.weight.shape[1:])

    def _of_features(self, relations: Relations, x: Tensor) -> Tensor:
        weight = self._weights().to(x.dtype) if torch.is_autocast_enabled(x.device.type) else self._weights()
        n, m, number = x.shape[1], self.out_channels, relations.number
        if self.aggr in _EXTREMES or aggregate_first(n, m, x.requires_grad, torch.is_grad_enabled()):
            out = AGGREGATIONS[self.aggr](relations.targets, x)
            if weight.dim() == 3:
                return out.reshape(-1, number * n) @ weight.reshape(number * n, m)
            parts = out.view(-1, number, weight.shape[1], weight.shape[2])
            return torch.einsum("xrbn,rbnm->xbm", parts, weight).flatten(1)
        if weight.dim() == 3:
            return self._gathered(relations, (x @ weight.transpose(0, 1).reshape(n, number * m)).view(-1, number, m))
        parts = x.view(-1, weight.shape[1], weight.shape[2])
        return self._gathered(relations, torch.einsum("xbn,rbnm->xrbm", parts, weight).flatten(2))

    def _gathered(self, relations: Relations, y: Tensor) -> Tensor:
        """Returns the sum over relations of aggregated y [sources, relations, m]."""
        if self.aggr in _EXTREMES:
            pairs = relations.sources._derive("pairs", lambda: _pairs(relations))
            return AGGREGATIONS[self.aggr](pairs, y.flatten(0, 1)).view(-1, relations.number, y.shape[2]).sum(1)
        a = relations.sources
        if self.aggr == "mean":
            dtype = y.dtype
            a = a._derive(f"means {dtype}", lambda: _means(relations, dtype))
        return propagate(a, y.flatten(0, 1))

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, num_relations={self.num_relations}"


def _pairs(relations: Relations) -> SparseMatrix:
    """The matrix with the rows of `targets` and the columns of `sources`."""
    shape = relations.targets.shape[0], relations.sources.shape[1]
    return SparseMatrix._of_entries(relations.targets.places()[0], relations.sources.places()[1], None, shape)


def _means(relations: Relations, dtype: torch.dtype) -> SparseMatrix:
    """Returns `sources` whose values are 1 / number of edges of the relation to the node."""
    place, _col = relations.targets.places()
    values = 1 / relations.targets.degrees().squeeze(1).index_select(0, place)
    return relations.sources.with_values(values.to(dtype))
