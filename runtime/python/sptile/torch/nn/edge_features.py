"""Features of edges, and those of the loops that attention layers add."""

from __future__ import annotations

import torch
from torch import Tensor

from ...errors import ArgumentTypeError, UnsupportedError, UsageError
from .graph import Edges
from .linear import Linear, materialize

FillValue = float | Tensor | str


def check_fill_value(fill_value: object) -> None:
    """Raises UnsupportedError unless the features of added loops are a number, a tensor or the name of a sum."""
    if not isinstance(fill_value, int | float | Tensor) and fill_value not in ("mean", "add", "sum"):
        raise UnsupportedError(
            f"fill_value must be a number, a tensor [edge_dim], 'mean', 'add' or 'sum', got {fill_value!r}"
        )


def check_edge_attr(edge_attr: Tensor, lin_edge: Linear | None, given: int) -> Tensor:
    """Returns features [edges, edge_dim] of the given edges, of which [edges] is one. `lin_edge` transforms them, and
    takes its width from them if it has none."""
    if lin_edge is None:
        raise UsageError("edge_attr requires a layer with edge_dim")
    if not isinstance(edge_attr, Tensor):
        raise ArgumentTypeError(f"edge_attr must be a tensor [edges, edge_dim], got {type(edge_attr).__name__}")
    if edge_attr.dim() == 1:
        edge_attr = edge_attr.unsqueeze(1)
    if edge_attr.dim() == 2:
        materialize(lin_edge, edge_attr.shape[1])
    wanted = [given, lin_edge.weight.shape[1] if edge_attr.dim() == 2 else -1]
    if list(edge_attr.shape) != wanted or not edge_attr.is_floating_point():
        raise UsageError(
            f"edge_attr must be a floating-point tensor {wanted}, got {edge_attr.dtype} {list(edge_attr.shape)}"
        )
    return edge_attr


def with_loops(numbers: Tensor, edges: Edges, fill_value: FillValue) -> Tensor:
    """Returns numbers of all edges, [edges with loops, width], from those of the given edges. An added loop has the
    fill value, or the mean or sum over the other edges of its node."""
    if edges.loops == 0:
        return numbers
    if edges.kept is not None:
        numbers = numbers[edges.kept]
    return torch.cat([numbers, _of_loops(numbers, edges, fill_value)])


def _of_loops(numbers: Tensor, edges: Edges, fill_value: FillValue) -> Tensor:
    if not isinstance(fill_value, str):
        fill = torch.as_tensor(fill_value, dtype=numbers.dtype, device=numbers.device)
        return fill.expand(edges.loops, numbers.shape[1])
    row = edges.row[: numbers.shape[0]]
    counted = torch.ones_like(row)
    if edges.left_out is not None:
        numbers = numbers.masked_fill(edges.left_out.unsqueeze(1), 0)
        counted = counted.masked_fill(edges.left_out, 0)
    sums = numbers.new_zeros(edges.matrix.shape[0], numbers.shape[1], dtype=torch.float64)
    sums = sums.index_add(0, row, numbers.double())[: edges.loops]
    if fill_value == "mean":
        counts = row.new_zeros(edges.matrix.shape[0]).index_add(0, row, counted)[: edges.loops]
        sums = sums / counts.clamp(min=1).unsqueeze(1)
    return sums.to(numbers.dtype)
