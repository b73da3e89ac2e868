"""Operations with a SparseMatrix. Gradients reach all tensors, and values that require them."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from .._options import CHOICES, named
from ..errors import ArgumentTypeError, UsageError
from . import operators
from .attention import SCORES
from .attention import attention as attention_operator
from .dropout import dropped, dropped_attention, dropped_spmm, new_seed
from .handle import kernel_for, precision_of
from .matrix import SparseMatrix, cast, heads_first, optional_tensor, tensor_of
from .operands import statistic
from .pattern import check_list_of_ids
from .reductions import reduced, segment_reduce


def _matrix(a: object) -> SparseMatrix:
    if isinstance(a, SparseMatrix):
        return a
    raise ArgumentTypeError(f"A must be a SparseMatrix, got {type(a).__name__}")


def spmm(A: SparseMatrix, x: Tensor, values: Tensor | None = None, reduce: str = "sum") -> Tensor:
    """Multiplies a sparse matrix with a dense tensor, ``A @ x``, or reduces the products of each row in another way.

    Parameters
    ----------
    A : SparseMatrix
        Matrix of shape (rows, cols).
    x : Tensor
        Dense operand of shape (cols,), (cols, n) or (cols, heads, n).
    values : Tensor, optional
        Values that replace those of A, of the type of x and shape (nonzeros,) or (nonzeros, heads).
    reduce : str, optional
        "sum", "mean", "max" or "min" of the products ``A[i, j] * x[j]`` over the nonzeros of row i. "mean" divides the
        sum by the number of nonzeros, with duplicates.

    Returns
    -------
    Tensor
        Result of shape (rows,), (rows, n) or (rows, heads, n). Rows without nonzeros are 0.

    Raises
    ------
    UsageError
        If shapes, types or devices do not match, or the reduction is unknown.

    Notes
    -----
    Of equal maxima or minima, the product with the smallest column receives the gradient, and of duplicates the first
    one. NaN is larger and smaller than all numbers. Maxima and minima have no second derivative, and are bitwise
    reproducible, as their gradients are.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> A = st.SparseMatrix.from_edge_index(torch.tensor([[0, 1, 2], [1, 2, 2]]))
    >>> st.spmm(A, torch.tensor([1.0, 2.0, 3.0]))
    tensor([0., 1., 5.])
    """
    a = A if type(A) is SparseMatrix else _matrix(A)  # without a call, like the steps of a repeated product
    if reduce != "sum":
        return reduced(a, x, values, reduce)
    return a._multiply(False, x, values)


def sddmm(A: SparseMatrix, x: Tensor, y: Tensor) -> Tensor:
    """Computes ``x[i] @ y[j]`` for each nonzero (i, j) of A. The values of A are ignored.

    Parameters
    ----------
    A : SparseMatrix
        Matrix of shape (rows, cols).
    x, y : Tensor
        Dense operands of shape (rows, n) and (cols, n), or (rows, heads, n) and (cols, heads, n).

    Returns
    -------
    Tensor
        Dot products of shape (nonzeros,) or (nonzeros, heads), in the order in which the nonzeros were given.

    Raises
    ------
    UsageError
        If shapes, types or devices do not match.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> A = st.SparseMatrix.from_edge_index(torch.tensor([[0, 1, 2], [1, 2, 2]]))
    >>> st.sddmm(A, torch.ones(3, 4), torch.ones(3, 4))
    tensor([4., 4., 4.])
    """
    a = _matrix(A)
    x, y = tensor_of("x", x), tensor_of("y", y)
    if torch.is_autocast_enabled(a.device.type):
        x, y = cast(a, x), cast(a, y)  # type: ignore[assignment]
    return _by_entry(operators.sddmm(a._entries, x, y))


def _by_entry(lists: Tensor) -> Tensor:
    """[entries], or [heads, entries] as [entries, heads]."""
    return lists if lists.dim() == 1 else lists.t()


def softmax(A: SparseMatrix, values: Tensor) -> Tensor:
    """Computes the softmax over the nonzeros of each row of A.

    Parameters
    ----------
    A : SparseMatrix
        Matrix whose pattern defines the rows.
    values : Tensor
        Scores of shape (nonzeros,) or (nonzeros, heads). -inf masks a nonzero. A row whose nonzeros are all masked
        gives 0. Duplicates each have a weight.

    Returns
    -------
    Tensor
        Weights, in the order in which the nonzeros were given.

    Raises
    ------
    UsageError
        If shapes or types do not match.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> A = st.SparseMatrix.from_edge_index(torch.tensor([[0, 1, 2], [1, 2, 2]]))
    >>> st.softmax(A, torch.zeros(3))
    tensor([1.0000, 0.5000, 0.5000])
    """
    a, values = _matrix(A), tensor_of("values", values)
    if values.dim() not in (1, 2):
        raise UsageError(
            f"values must have shape [{a._entries.given}] or [{a._entries.given}, heads], got {list(values.shape)}"
        )
    listed = heads_first(a, "values", values, None if values.dim() == 1 else values.shape[1])
    return _by_entry(operators.softmax(a._entries, listed))


def attention(
    A: SparseMatrix,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    scale: float | None = None,
    bias: Tensor | None = None,
    bias_index: Tensor | None = None,
    dropout_p: float = 0.0,
    score: str = "dot",
    negative_slope: float = 0.2,
) -> Tensor:
    """Computes sparse attention: ``softmax(scale * score(q[i], k[j]) + bias) @ v`` over the nonzeros (i, j) of A.

    Parameters
    ----------
    A : SparseMatrix
        Matrix whose nonzeros are the pairs that attend. Its values are ignored. Duplicates each have a weight.
    q, k, v : Tensor
        Queries (rows, heads, n), keys (cols, heads, n) and values (cols, heads, m), or all without heads.
    scale : float, optional
        Scale of the scores. By default ``1 / sqrt(n)`` for "dot", otherwise 1.
    bias : Tensor, optional
        Bias of shape (nonzeros,) or (nonzeros, heads). -inf masks a nonzero.
    bias_index : Tensor, optional
        Integers of shape (nonzeros,). `bias` is then a table of shape (types,) or (types, heads), and a nonzero has the
        bias ``bias[bias_index]``: a relative bias by distance, or by type of edge.
    dropout_p : float, optional
        Probability of dropping a weight.
    score : str, optional
        "dot": ``q @ k``. "cosine": cosine similarity. "additive": ``leaky_relu(q + k)``, with n = 1 or omitted.
    negative_slope : float, optional
        Slope of the leaky ReLU of "additive".

    Returns
    -------
    Tensor
        Result of shape (rows, heads, m), or (rows, m) without heads. Rows without nonzeros are 0.

    Raises
    ------
    UsageError
        If shapes, types or devices do not match, or an option is invalid.
    BadInputError
        If `bias_index` is not from 0 to types - 1.

    Notes
    -----
    One kernel computes the result and allocates no memory per nonzero. With dropout, both passes allocate weights per
    nonzero and head, in float32 or wider, and the backward pass computes them and the mask again, so that none are kept
    between the passes. Transforms of `torch.func` and forward mode keep them.

    A bias is one value per nonzero and head, also if it is from a table. The gradient of the table is an SpMM, which
    adds in a fixed order. A keeps a copy of the last `bias_index`, and compares it in each call. On a CUDA device, this
    comparison synchronizes.

    The mask depends on a seed, which `torch` draws on the device of A, the position of the nonzero and the head.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> A = st.SparseMatrix.from_edge_index(torch.tensor([[0, 1, 2], [1, 2, 2]]))
    >>> x = torch.eye(3)
    >>> st.attention(A, x, x, x).shape
    torch.Size([3, 3])
    """
    if not 0 <= dropout_p <= 1:
        raise UsageError(f"dropout_p must be from 0 to 1, got {dropout_p}")
    if bias_index is not None:
        bias = _bias_of_types(_matrix(A), tensor_of("bias", bias), bias_index)
    return attention_dropped_by(A, q, k, v, float(dropout_p), scale, bias, score, negative_slope)


def _bias_of_types(a: SparseMatrix, table: Tensor, types: Tensor) -> Tensor:
    """Returns the row of a table [types, ...] for each nonzero: a product with a nonzeros x types matrix, as is its
    gradient. `a` keeps this matrix while the types are unchanged."""
    check_list_of_ids(types, "bias_index")
    given = a._entries.given
    if table.dim() not in (1, 2) or types.shape[0] != given or types.device != a.device:
        raise UsageError(
            f"bias_index requires a table bias [types] or [types, heads], and {given} types on {a.device}, one per "
            f"nonzero; got {list(table.shape)}, and {list(types.shape)} on {types.device}"
        )
    number = table.shape[0]
    if torch.compiler.is_compiling():
        return spmm(_matrix_of_types(types, number)[1], table)
    kept = a._derived.get("bias types")
    if kept is None or kept[1].shape[1] != number or not operators.unchanged(kept[0], types):
        a._derived.pop("bias types", None)
        kept = a._derive("bias types", lambda: _matrix_of_types(types, number))
    return spmm(kept[1], table)


def _matrix_of_types(types: Tensor, number: int) -> tuple[Tensor, SparseMatrix]:
    types = types.clone()
    entries = torch.arange(types.shape[0], device=types.device)
    return types, SparseMatrix._of_entries(entries, types, None, (types.shape[0], number), format="csr")


def attention_dropped_by(
    A: SparseMatrix,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    drop: Callable[[Tensor], Tensor] | float,
    scale: float | None,
    bias: Tensor | None,
    score: str,
    negative_slope: float,
) -> Tensor:
    """Attention whose weights (heads, nonzeros) are dropped with a probability, or by a function that multiplies them
    by a mask; see `attention`."""
    a = _matrix(A)
    q, k, v, bias = tensor_of("q", q), tensor_of("k", k), tensor_of("v", v), optional_tensor("bias", bias)
    score_code = named(score, SCORES, "score")
    if torch.is_autocast_enabled(a.device.type):
        q, k, v, bias = cast(a, q), cast(a, k), cast(a, v), cast(a, bias)  # type: ignore[assignment]
    if score == "additive" and q.dim() == v.dim() - 1:
        q, k = q.unsqueeze(-1), k.unsqueeze(-1)
    single = v.dim() == 2
    if single:
        q, k, v = q.unsqueeze(1), k.unsqueeze(1), v.unsqueeze(1)
    if q.dim() != 3 or k.dim() != 3 or v.dim() != 3:
        raise UsageError(
            f"q, k and v must have shape [nodes, heads, n], got {list(q.shape)}, {list(k.shape)} and {list(v.shape)}"
        )
    if scale is None:
        scale = q.shape[2] ** -0.5 if score == "dot" and q.shape[2] > 0 else 1.0
    if bias is not None and bias.dim() == 1:
        bias = bias.unsqueeze(1).expand(-1, q.shape[1])
    listed = None if bias is None else heads_first(a, "bias", bias, q.shape[1])
    settings = (float(scale), score_code, float(negative_slope))
    # Cases that the fused operator does not support: dropout, scores without columns, transforms of torch.func.
    if drop != 0 or q.shape[2] == 0 or operators.transformed():
        attention_operator.check(a._entries, (q, k, v, listed, *settings))
        out = _attention_in_steps(a, q, k, v, listed, *settings, drop)
    else:
        out, _ = attention_operator(a._entries, q, k, v, listed, *settings)
    return out.squeeze(1) if single else out


def _attention_in_steps(
    a: SparseMatrix,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Tensor | None,
    scale: float,
    score: int,
    slope: float,
    drop: Callable[[Tensor], Tensor] | float,
) -> Tensor:
    """Attention whose weights are written, so that they can be dropped. With a probability one operator does so and
    keeps no weights. Otherwise, each step has derivatives of all kinds."""
    wide = statistic(q.dtype)
    q, k, bias = q.to(wide), k.to(wide), None if bias is None else bias.to(wide)
    if score == SCORES["cosine"]:
        q, k = functional.normalize(q, dim=-1), functional.normalize(k, dim=-1)
    if score == SCORES["additive"]:
        one = q.new_ones(())
        q, k = torch.cat([q, one.expand_as(q)], -1), torch.cat([one.expand_as(k), k], -1)
    else:
        slope = 1.0
    if isinstance(drop, float) and drop > 0 and not operators.transformed():
        return dropped_attention(a._entries, v, q, k, bias, new_seed(a.device), drop, scale, slope)
    scores = operators.sddmm(a._entries, q, k)
    scores = (scores if slope == 1 else functional.leaky_relu(scores, slope)) * scale
    if bias is not None:
        scores = scores + bias
    weights = operators.softmax(a._entries, scores)
    if callable(drop):
        weights = drop(weights)
    elif drop > 0:
        weights = dropped(a._entries, weights, new_seed(a.device), drop)
    return operators.spmm(a._entries, False, v, weights.to(v.dtype))


def drop_weights(A: SparseMatrix, weights: Tensor, seed: Tensor | None, p: float) -> Tensor:
    """Returns weights (nonzeros, heads), dropped with probability p if there is a seed."""
    if seed is None:
        return weights
    return _by_entry(dropped(A._entries, weights.t(), seed, p))


def dropped_product(A: SparseMatrix, x: Tensor, weights: Tensor, seed: Tensor | None, p: float) -> Tensor:
    """Returns the product of x (cols, heads, n) with weights as in `drop_weights`. It keeps the weights, not the
    dropped ones."""
    if seed is None or operators.transformed():
        return spmm(A, x, drop_weights(A, weights, seed, p))
    out: Tensor = dropped_spmm(A._entries, x, weights.t(), seed, p)
    return out


def spmm_update(
    A: SparseMatrix, x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str | None = None
) -> Tensor:
    """Computes ``activation((A @ x) @ weight + bias)``, in one kernel.

    Parameters
    ----------
    A : SparseMatrix
        Matrix of shape (rows, cols).
    x : Tensor
        Dense operand of shape (cols, n).
    weight : Tensor
        Weights of shape (n, m). The transpose of a contiguous (m, n) tensor is used without a copy.
    bias : Tensor, optional
        Bias of shape (m,).
    activation : str, optional
        "relu". By default none.

    Returns
    -------
    Tensor
        Result of shape (rows, m).

    Raises
    ------
    UsageError
        If shapes, types or devices do not match, or the activation is unknown.

    Notes
    -----
    If the values of A require gradients, and in transforms of `torch.func`, the operation runs in steps.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> A = st.SparseMatrix.from_edge_index(torch.tensor([[0, 1, 2], [1, 2, 2]]))
    >>> st.spmm_update(A, torch.ones(3, 2), torch.ones(2, 1), activation="relu")
    tensor([[0.],
            [2.],
            [4.]])
    """
    a = _matrix(A)
    x, weight, bias = tensor_of("x", x), tensor_of("weight", weight), optional_tensor("bias", bias)
    named(activation, CHOICES["activation"], "activation")
    if torch.is_autocast_enabled(a.device.type):
        x, weight, bias = cast(a, x), cast(a, weight), cast(a, bias)  # type: ignore[assignment]
    else:
        a._check_type(x)
    if a._learned is not None or operators.transformed() or 0 in x.shape[1:] or 0 in weight.shape:
        operators.spmm_update.check(a._product, (False, x, weight, bias, activation == "relu", False, False))
        out = a._multiply(False, x, None) @ weight
        out = out if bias is None else out + bias
        return out if activation is None else out.relu()
    lies_transposed = weight.dim() == 2 and weight.stride(0) == 1 and weight.stride(1) != 1
    w = weight.t() if lies_transposed else weight
    out, _ = operators.spmm_update(a._product, False, x, w, bias, activation == "relu", lies_transposed, False)
    return out


def fused_update_pays(
    A: SparseMatrix, n: int, m: int, dtype: torch.dtype, relu: bool = False, backward: bool = False
) -> bool:
    """Returns whether layers fuse the product with x of shape (cols, n) and the update with weights of shape (n, m).

    True if A names a kernel of `spmm_update`. Otherwise True on a CUDA device if csr is the format for A with n columns
    and the library predicts that one fused kernel is faster than two products. `backward` asks for the transpose of A.
    """
    if A._learned is not None or 0 in (n, m):
        return False
    named_kernel = kernel_for("spmm_update", A._handle.kernels) is not None
    if named_kernel or A.device.type != "cuda":
        return named_kernel
    like = torch.empty((0, 0), dtype=dtype, device=A.device)
    handle = A._handle.transposed() if backward else A._handle
    if handle.plan("spmm", n, dtype, precision_of(like)).format != "csr":
        return False
    return operators.update_plan(handle, n, m, like, relu, not backward).kernel == "cuda.csr.update"


__all__ = ["attention", "fused_update_pays", "sddmm", "segment_reduce", "softmax", "spmm", "spmm_update"]
