"""Products with a SparseMatrix, as users call them. Gradients reach all tensors, and learned values.

They follow autocast as torch's products do. On a CUDA device products of float32 are formed in tf32 where
`torch.backends.cuda.matmul.allow_tf32` says so; sums are float32 or wider.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from ..errors import UsageError
from . import operators
from .attention import SCORES
from .attention import attention as attention_operator
from .handle import Request, precision_of
from .matrix import SparseMatrix
from .operands import statistic


def _tensor(name: str, x: object) -> Tensor:
    if isinstance(x, Tensor):
        return x
    raise UsageError(f"{name} is of type {type(x).__name__}; pass a torch.Tensor")


def _optional(name: str, x: object) -> Tensor | None:
    return None if x is None else _tensor(name, x)


def _matrix(a: object) -> SparseMatrix:
    if isinstance(a, SparseMatrix):
        return a
    raise UsageError(f"A is of type {type(a).__name__}; pass a SparseMatrix")


def _cast(a: SparseMatrix, x: Tensor | None) -> Tensor | None:
    """x as autocast wants it."""
    kind = a.device.type
    if (
        x is None
        or not torch.is_autocast_enabled(kind)
        or x.dtype == torch.float64
        or not x.is_floating_point()
    ):
        return x
    return x.to(torch.get_autocast_dtype(kind))


def _check_type(a: SparseMatrix, x: Tensor, values: Tensor | None = None) -> None:
    """Refuses x of another type than the values of A that it is multiplied with."""
    if values is None and a.values is not None and a.dtype != x.dtype and not a._counts:
        raise UsageError(
            f"x is {x.dtype}, the values of A are {a.dtype}; nothing is converted, use "
            f"A.to({x.dtype}) or x.to({a.dtype})"
        )


def _heads_first(a: SparseMatrix, name: str, values: Tensor, heads: int | None) -> Tensor:
    """The user's values [entries], or [entries, heads] as [heads, entries]."""
    given = a._entries.given
    wanted = [given] if heads is None else [given, heads]
    if list(values.shape) != wanted:
        raise UsageError(
            f"{name} is {list(values.shape)}, pass {wanted}: a number for each entry"
            + ("" if heads is None else " and head")
        )
    return values if heads is None else values.t()


def spmm(A: SparseMatrix, x: Tensor, values: Tensor | None = None) -> Tensor:
    """A x. x: [cols], [cols, n] or [cols, heads, n], the result: the same with rows in the place of cols.

    values  [entries], or with heads [entries, heads], in the place of those of A, in the type of x; they get
            gradients. Without heads in values all heads have the same.
    UsageError for shapes, types or devices that do not fit.
    """
    return _spmm(_matrix(A), False, x, values)


def _spmm(a: SparseMatrix, t: bool, x: Tensor, values: Tensor | None) -> Tensor:
    """A x, or A^T x where t."""
    x, values = _tensor("x", x), _optional("values", values)
    if torch.is_autocast_enabled(a.device.type):
        x, values = _cast(a, x), _cast(a, values)  # type: ignore[assignment]
    else:
        _check_type(a, x, values)
    ref = a._product
    if values is None and a._learned is not None:
        values = a._learned.to(x.dtype)
    if values is not None:
        ref = a._entries
        by_head = values.dim() == 2
        values = _heads_first(a, "values", values, x.shape[1] if by_head and x.dim() == 3 else None)
        if by_head:
            return operators.spmm(ref, t, x, values)
    if x.dim() == 2:
        return operators.spmm(ref, t, x, values)
    if x.dim() not in (1, 3):
        raise UsageError(f"x is {list(x.shape)}; pass [{a.shape[0 if t else 1]}, n]")
    width = x.shape[1:].numel()
    flat = operators.spmm(ref, t, x.reshape(x.shape[0], width), values)
    return flat.reshape(flat.shape[0], *x.shape[1:])


def product_from_the_left(x: Tensor, A: SparseMatrix) -> Tensor:
    """x A: x [rows] or [..., rows], the result with cols in the place of rows."""
    a, x = _matrix(A), _tensor("x", x)
    if x.layout != torch.strided or x.dim() == 0 or x.shape[-1] != a.shape[0]:
        kind = "" if x.layout == torch.strided else f"{x.layout} "
        raise UsageError(
            f"x is {kind}{list(x.shape)}; the matrix has {a.shape[0]} rows, so pass [..., {a.shape[0]}]"
        )
    if x.dim() == 1:
        return _spmm(a, True, x, None)
    flat = _spmm(a, True, x.reshape(x.shape[:-1].numel(), x.shape[-1]).t(), None).t()
    return flat.reshape(*x.shape[:-1], flat.shape[1])


def sddmm(A: SparseMatrix, x: Tensor, y: Tensor) -> Tensor:
    """x_i . y_j for each entry (i, j) of A: x [rows, n], y [cols, n], the result [entries]; with heads
    x [rows, heads, n], y [cols, heads, n], the result [entries, heads]. Values of A play no part."""
    a = _matrix(A)
    x, y = _tensor("x", x), _tensor("y", y)
    if torch.is_autocast_enabled(a.device.type):
        x, y = _cast(a, x), _cast(a, y)  # type: ignore[assignment]
    return _by_entry(operators.sddmm(a._entries, x, y))


def _by_entry(lists: Tensor) -> Tensor:
    """[entries], or [heads, entries] as [entries, heads]."""
    return lists if lists.dim() == 1 else lists.t()


def softmax(A: SparseMatrix, values: Tensor) -> Tensor:
    """Softmax over the entries of each row of A: values [entries] or [entries, heads]. Each given entry counts:
    three parallel ones of equal value get equal weights. -inf masks an entry; rows where all are masked give
    0."""
    a, values = _matrix(A), _tensor("values", values)
    if values.dim() not in (1, 2):
        raise UsageError(
            f"values are {list(values.shape)}; pass [{a._entries.given}] or [{a._entries.given}, heads]"
        )
    listed = _heads_first(a, "values", values, None if values.dim() == 1 else values.shape[1])
    return _by_entry(operators.softmax(a._entries, listed))


def attention(
    A: SparseMatrix,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    scale: float | None = None,
    bias: Tensor | None = None,
    dropout_p: float = 0.0,
    score: str = "dot",
    negative_slope: float = 0.2,
) -> Tensor:
    """softmax(scale * score(q_i, k_j) + bias_ij) over the entries (i, j) of each row of A, times v_j.

    q [rows, heads, n], k [cols, heads, n], v [cols, heads, m], the result [rows, heads, m]; or all without
    heads. bias [entries] or [entries, heads]; -inf masks an entry. Each given entry counts, parallel ones too. Rows
    without entries give 0.
    score      "dot": q . k, scale None is 1 / sqrt(n); "cosine": that of the angle; "additive":
               leaky_relu(q + k) with `negative_slope`, n = 1 (or left out), scale None is 1 as for "cosine"
    dropout_p  share of the weights that are set to 0 (the others grow), each given entry for itself. With it, in
               transforms of torch.func and in forward mode, numbers for each entry and head are made, in float32 or
               wider; else nothing of the size of the entries.
    Values of A play no part. UsageError for shapes, types, devices or scores that do not fit.
    """
    a = _matrix(A)
    q, k, v, bias = _tensor("q", q), _tensor("k", k), _tensor("v", v), _optional("bias", bias)
    if score not in SCORES:
        raise UsageError(f"score = {score!r}; there is: " + ", ".join(SCORES))
    if not 0 <= dropout_p <= 1:
        raise UsageError(f"dropout_p = {dropout_p}; it is a share, 0 to 1")
    if torch.is_autocast_enabled(a.device.type):
        q, k, v, bias = _cast(a, q), _cast(a, k), _cast(a, v), _cast(a, bias)  # type: ignore[assignment]
    if score == "additive" and q.dim() == v.dim() - 1:
        q, k = q.unsqueeze(-1), k.unsqueeze(-1)
    single = v.dim() == 2
    if single:
        q, k, v = q.unsqueeze(1), k.unsqueeze(1), v.unsqueeze(1)
    if q.dim() != 3 or k.dim() != 3 or v.dim() != 3:
        raise UsageError(
            f"q is {list(q.shape)}, k {list(k.shape)}, v {list(v.shape)}; pass [nodes, heads, n]"
        )
    if scale is None:
        scale = q.shape[2] ** -0.5 if score == "dot" and q.shape[2] > 0 else 1.0
    if bias is not None and bias.dim() == 1:
        bias = bias.unsqueeze(1).expand(-1, q.shape[1])
    listed = None if bias is None else _heads_first(a, "bias", bias, q.shape[1])
    settings = (float(scale), SCORES[score], float(negative_slope))
    # In steps, too: what has no derivative of the whole, and scores of no columns.
    if dropout_p > 0 or q.shape[2] == 0 or operators.transformed():
        attention_operator.check(a._entries, (q, k, v, listed, *settings))
        out = _attention_in_steps(a, q, k, v, listed, *settings, dropout_p)
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
    dropout_p: float,
) -> Tensor:
    """Attention whose weights are written: they can be dropped, and each step has derivatives of all kinds."""
    wide = statistic(q.dtype)
    q, k = q.to(wide), k.to(wide)
    if score == SCORES["cosine"]:
        q, k = functional.normalize(q, dim=-1), functional.normalize(k, dim=-1)
    if score == SCORES["additive"]:
        one = q.new_ones(())
        q, k = torch.cat([q, one.expand_as(q)], -1), torch.cat([one.expand_as(k), k], -1)
    scores = operators.sddmm(a._entries, q, k)
    if score == SCORES["additive"]:
        scores = functional.leaky_relu(scores, slope)
    scores = scores * scale
    if bias is not None:
        scores = scores + bias
    weights = functional.dropout(operators.softmax(a._entries, scores), dropout_p)
    return operators.spmm(a._entries, False, v, weights.to(v.dtype))


def spmm_update(
    A: SparseMatrix, x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str | None = None
) -> Tensor:
    """activation((A x) weight + bias), in one kernel where that pays: x [cols, n], weight [n, m], bias [m],
    the result [rows, m]. activation: None or "relu". The transpose of a weight [m, n] is taken as it lies."""
    a = _matrix(A)
    x, weight, bias = _tensor("x", x), _tensor("weight", weight), _optional("bias", bias)
    if activation not in (None, "relu"):
        raise UsageError(f"activation = {activation!r}; use None or 'relu'")
    if torch.is_autocast_enabled(a.device.type):
        x, weight, bias = _cast(a, x), _cast(a, weight), _cast(a, bias)  # type: ignore[assignment]
    else:
        _check_type(a, x)
    if a._learned is not None or operators.transformed() or 0 in x.shape[1:] or 0 in weight.shape:
        operators.spmm_update.check(a._product, (False, x, weight, bias, activation == "relu", False, False))
        out = _spmm(a, False, x, None) @ weight
        out = out if bias is None else out + bias
        return out if activation is None else out.relu()
    lies_transposed = weight.dim() == 2 and weight.stride(0) == 1 and weight.stride(1) != 1
    w = weight.t() if lies_transposed else weight
    out, _ = operators.spmm_update(a._product, False, x, w, bias, activation == "relu", lies_transposed, False)
    return out


def fused_update_pays(A: SparseMatrix, n: int, m: int, dtype: torch.dtype) -> bool:
    """True where csr is the format of a product with A of n columns, and the library predicts that one kernel
    beats it and a product with the weights."""
    if A.device.type != "cuda" or A._learned is not None:
        return False
    like = torch.empty((0, 0), dtype=dtype, device=A.device)
    handle, precision = A._handle, precision_of(like)
    if handle.plan(Request("spmm", n, dtype, precision)).format != "csr":
        return False
    return handle.plan(operators.update_request(n, m, like, False, True)).kernel == "cuda.csr.update"


__all__ = ["attention", "fused_update_pays", "sddmm", "softmax", "spmm", "spmm_update"]
