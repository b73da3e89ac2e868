"""What has a number for each entry, and attention, over the rows of all ranks."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ...errors import UsageError
from .. import functions
from ..matrix import SparseMatrix
from .exchange import FETCH
from .matrix import DistSparseMatrix


def sddmm(A: DistSparseMatrix, x: Tensor, y: Tensor) -> Tensor:
    """x_i . y_j for each entry (i, j) of this rank's rows: x and y [owned, n], or with heads [owned, heads, n]; the
    result [entries], or [entries, heads], in the order of `A.joined`. Rows of y that others own are fetched.
    Gradients reach both. Errors as of A @ x."""
    return functions.sddmm(_matrix(A).joined, x, A.with_halo(y))


def attention(
    A: DistSparseMatrix, q: Tensor, k: Tensor, v: Tensor, *, over: SparseMatrix | None = None, **options: Any
) -> Tensor:
    """Attention as of sptile.torch: q, k [owned, heads, n], v [owned, heads, m], the result [owned, heads, m]; or all
    without heads. k and v of others are fetched in one exchange. Errors as of A @ x.

    over     a matrix with the columns of `A.joined`, None: that one. `A.joined.with_loops()` lets rows see
             themselves
    options  as of sptile.torch.attention
    """
    entries = _matrix(A).joined if over is None else over
    if k is v:
        k = v = A.with_halo(v)
    else:
        both = A.with_halo(_side_by_side(A, k, v))
        width = k.shape[1:].numel()
        k = both[:, :width].reshape(-1, *k.shape[1:])
        v = both[:, width:].reshape(-1, *v.shape[1:])
    return functions.attention(entries, q, k, v, **options)


def _side_by_side(A: DistSparseMatrix, k: Tensor, v: Tensor) -> Tensor:
    """k and v as columns of one operand. Raises UsageError in all ranks where they do not fit in one."""
    try:
        if k.dtype != v.dtype:
            raise TypeError(f"k is {k.dtype}, v {v.dtype}")
        return torch.cat([x.flatten(1) if x.dim() > 1 else x[:, None] for x in (k, v)], 1)
    except (AttributeError, IndexError, NotImplementedError, RuntimeError, TypeError) as error:
        refusal = UsageError(f"k and v are tensors of one type with {A.owned} rows on {A.device}: {error}")
    A._exchange.agree(FETCH, torch.empty(0, 0), refusal)
    raise refusal


def _matrix(a: object) -> DistSparseMatrix:
    if isinstance(a, DistSparseMatrix):
        return a
    raise UsageError(f"A is of type {type(a).__name__}; pass a DistSparseMatrix")
