"""SDDMM and attention over the rows of all ranks."""

from __future__ import annotations

import torch
from torch import Tensor

from ...errors import ArgumentTypeError, UsageError
from .. import functions
from ..matrix import SparseMatrix
from .exchange import FETCH
from .matrix import DistSparseMatrix


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
    return functions.sddmm(_matrix(A).joined, x, A.with_halo(y))


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
) -> Tensor:
    """Computes sparse attention, see `sptile.torch.attention`. One exchange fetches k and v from other ranks.

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
        See `sptile.torch.attention`.

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
    if k is v:
        k = v = A.with_halo(v)
    else:
        both = A.with_halo(_side_by_side(A, k, v))
        width = k.shape[1:].numel()
        k = both[:, :width].reshape(-1, *k.shape[1:])
        v = both[:, width:].reshape(-1, *v.shape[1:])
    return functions.attention(
        entries, q, k, v, scale=scale, bias=bias, dropout_p=dropout_p, score=score, negative_slope=negative_slope
    )


def _side_by_side(A: DistSparseMatrix, k: Tensor, v: Tensor) -> Tensor:
    """Concatenates k and v as columns of one operand. All ranks raise UsageError if the shapes do not match."""
    try:
        if k.dtype != v.dtype:
            raise TypeError(f"k is {k.dtype}, but v is {v.dtype}")
        return torch.cat([x.flatten(1) if x.dim() > 1 else x[:, None] for x in (k, v)], 1)
    except (AttributeError, IndexError, NotImplementedError, RuntimeError, TypeError) as error:
        refusal = UsageError(f"k and v must have one type and {A.owned} rows on {A.device}: {error}")
    A._exchange.agree(FETCH, torch.empty(0, 0), refusal)
    raise refusal


def _matrix(a: object) -> DistSparseMatrix:
    if isinstance(a, DistSparseMatrix):
        return a
    raise ArgumentTypeError(f"A must be a DistSparseMatrix, got {type(a).__name__}")
