"""Order of aggregation and linear layers: before or after, whichever loads fewer bytes."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from ..matrix import SparseMatrix
from .linear import Linear, materialize


def aggregate_first(
    in_channels: int, out_channels: int, x_learns: bool, training: bool, recomputes: bool = False
) -> bool:
    """Returns whether (A X) W loads fewer bytes than A (X W). Each nonzero loads one row of that width in the
    forward pass, and one in the backward pass if the gradient of the operand is needed, or if it computes A X again."""
    before = in_channels * (1 + x_learns + recomputes)
    after = out_channels * (2 if training else 1)
    return before < after


def aggregates_first(x: Tensor, lin: Linear) -> bool:
    """Returns whether a layer aggregates x before it applies `lin`, whose width follows from x."""
    materialize(lin, x.shape[-1])
    return aggregate_first(x.shape[-1], lin.weight.shape[0], x.requires_grad, torch.is_grad_enabled())


def aggregate_linear(
    aggregate: Callable[[SparseMatrix, Tensor], Tensor], a: SparseMatrix, x: Tensor, lin: Linear, linear: bool
) -> Tensor:
    """Returns lin(aggregate(a, x)). A `linear` aggregation may follow the weights."""
    if aggregates_first(x, lin) or not linear:
        out: Tensor = lin(aggregate(a, x))
        return out
    out = aggregate(a, functional.linear(x, lin.weight))
    return out if lin.bias is None else out + lin.bias.to(out.dtype)
