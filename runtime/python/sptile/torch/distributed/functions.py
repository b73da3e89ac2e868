"""SDDMM and attention over the rows of all ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ...errors import ArgumentTypeError, UsageError
from .. import functions
from ..matrix import SparseMatrix
from .crossing import Crossing
from .exchange import FETCH
from .matrix import DistSparseMatrix
from .row_blocks import RowBlocks, row_blocks

def sddmm(A: DistSparseMatrix, x: Tensor, y: Tensor) -> Tensor:
    """Computes ``x[i] @ y[j]`` for each nonzero (i, j) in the rows of this rank. Fetches rows of y from other ranks.

    Parameters
    ----------
    A : DistSparseMatrix
        Partitioned matrix.
    x, y : Tensor
        Rows of this rank, shape (owned, n) or (owned, heads, n).

    Returns
    -------
    Tensor
        Dot products of shape (nonzeros,) or (nonzeros, heads), in the order of `DistSparseMatrix.joined`.

    Raises
    ------
    UsageError
        On all ranks, if an operand does not match.
    IoError
        If a rank has exited.

    Examples
    --------
    >>> import torch, sptile.torch.distributed as sd
    >>> A = sd.DistSparseMatrix("parts")
    >>> x = torch.ones(A.owned, 4)
    >>> sd.sddmm(A, x, x).shape
    torch.Size([38964])
    """
    a = _matrix(A)
    blocks = _blocks(a, a.joined, x)
    crossing = Crossing(a._exchange, a._operand(FETCH, y, False), (y,))
    own = crossing.own((y,))
    if blocks is None:
        return functions.sddmm(a.joined, x, *crossing.gathered(own, None))
    first = blocks.interior.shape[0]
    interior = functions.sddmm(blocks.interior, x[:first], *own)
    return torch.cat([interior, functions.sddmm(blocks.boundary, x[first:], *crossing.gathered(own, blocks.used))])


def attention(
    A: DistSparseMatrix,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    over: SparseMatrix | None = None,
    scale: float | None = None,
    bias: Tensor | None = None,
    dropout_p: float = 0.0,
    score: str = "dot",
    negative_slope: float = 0.2,
    drop: Callable[[Tensor], Tensor] | None = None,
) -> Tensor:
    """Computes sparse attention, see `sptile.torch.attention`. Fetches k and v from other ranks.

    Parameters
    ----------
    A : DistSparseMatrix
        Partitioned matrix.
    q, k, v : Tensor
        Rows of this rank: (owned, heads, n), (owned, heads, n) and (owned, heads, m), or all without heads.
    over : SparseMatrix, optional
        Matrix with the columns of `DistSparseMatrix.joined`, whose nonzeros are the pairs that attend. By default
        ``A.joined``. ``A.joined.with_loops()`` adds self loops.
    scale, bias, dropout_p, score, negative_slope : optional
        See `sptile.torch.attention`. The mask of `dropout_p` is drawn on each rank from its own random numbers.
    drop : callable, optional
        Drops weights instead of `dropout_p`. Takes the weights of shape (heads, nonzeros), in the order of `over`, and
        returns those that remain, scaled.

    Returns
    -------
    Tensor
        Rows of this rank, shape (owned, heads, m) or (owned, m).

    Raises
    ------
    UsageError
        On all ranks, if an operand does not match.
    IoError
        If a rank has exited.

    Examples
    --------
    >>> import torch, sptile.torch.distributed as sd
    >>> A = sd.DistSparseMatrix("parts")
    >>> x = torch.ones(A.owned, 4)
    >>> sd.attention(A, x, x, x, over=A.joined.with_loops()).shape
    torch.Size([2286, 4])
    """
    entries = _matrix(A).joined if over is None else over
    options: dict[str, Any] = {"scale": scale, "dropout_p": dropout_p, "score": score, "negative_slope": negative_slope}
    blocks = _blocks(A, entries, q) if bias is None and dropout_p == 0 and drop is None else None
    parts = (v,) if k is v else (k, v)
    sent = A._operand(FETCH, v if k is v else _side_by_side(A, k, v), False)
    crossing = Crossing(A._exchange, sent, parts)
    own = crossing.own(parts)
    if blocks is None:
        every = crossing.gathered(own, None)
        pair = every[0], every[-1]
        if drop is not None:
            return functions.attention_dropped_by(entries, q, *pair, drop, scale, bias, score, negative_slope)
        return functions.attention(entries, q, *pair, bias=bias, **options)
    first = blocks.interior.shape[0]
    interior = functions.attention(blocks.interior, q[:first], own[0], own[-1], **options)
    columns = crossing.gathered(own, blocks.used)
    boundary = functions.attention(blocks.boundary, q[first:], columns[0], columns[-1], **options)
    return torch.cat([interior, boundary])


def _blocks(A: DistSparseMatrix, entries: SparseMatrix, x: Tensor) -> RowBlocks | None:
    """Returns the row blocks of a matrix with rows x, or None if it is to be computed as a whole."""
    fits = isinstance(x, Tensor) and x.dim() > 0 and x.shape[0] == A.owned
    fits = fits and isinstance(entries, SparseMatrix) and entries.shape == (A.owned, A.owned + A.needed)
    return row_blocks(entries, A.owned) if fits else None


def _side_by_side(A: DistSparseMatrix, k: Tensor, v: Tensor) -> Tensor:
    """Concatenates k and v as columns of one operand. All ranks raise UsageError if the shapes do not match."""
    try:
        if k.dtype != v.dtype:
            raise TypeError(f"k is {k.dtype}, but v is {v.dtype}")
        return torch.cat([x.flatten(1) if x.dim() > 1 else x[:, None] for x in (k, v)], 1)
    except (AttributeError, IndexError, NotImplementedError, RuntimeError, TypeError) as error:
        refusal = UsageError(f"k and v must have one type and {A.owned} rows on {A.device}: {error}")
    A._exchange.agree(FETCH, torch.empty(0, 0, device="cpu"), refusal)
    raise refusal


def _matrix(a: object) -> DistSparseMatrix:
    if isinstance(a, DistSparseMatrix):
        return a
    raise ArgumentTypeError(f"A must be a DistSparseMatrix, got {type(a).__name__}")
