"""The operator sptile::attention: all of a graph attention layer in one kernel, and its gradient.

q [rows, heads, n], k [cols, heads, n], v [cols, heads, m], bias [heads, nnz] in the order of CSR. Besides the
result it keeps two numbers for each row and head; the gradient makes weights anew from them.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _library as c
from ..errors import UsageError
from .handle import Handle, Request, handle_of
from .operators import (
    Operator,
    check_alike,
    check_list,
    check_rows,
    number_list,
    once_differentiable,
    operand,
    rows_in_memory,
)

SCORES = {"dot": c.SCORE_DOT, "cosine": c.SCORE_COSINE, "additive": c.SCORE_ADDITIVE}


def _check(handle: Handle, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, score: int) -> None:
    pattern = handle.pattern
    check_rows("q", q, pattern.rows, "rows", handle, (3,))
    check_rows("k", k, pattern.cols, "columns", handle, (3,))
    check_rows("v", v, pattern.cols, "columns", handle, (3,))
    check_alike(("q", q), ("k", k), ("v", v), ("bias", bias))
    if q.shape[1:] != k.shape[1:] or q.shape[1] != v.shape[1]:
        raise UsageError(
            f"q is {list(q.shape)}, k {list(k.shape)}, v {list(v.shape)}; rows of q and k are of one "
            "shape, and all have the same heads"
        )
    if bias is not None:
        check_list("bias", bias, pattern.nnz, q.shape[1])
    if 0 in q.shape[1:] or v.shape[2] == 0:
        raise UsageError(f"q is {list(q.shape)}, v {list(v.shape)}; heads and columns are at least 1")
    if score == c.SCORE_ADDITIVE and q.shape[2] != 1:
        raise UsageError(f"q is {list(q.shape)}; the additive score adds one number of each row and head")


def _request(operation: str, q: Tensor, v: Tensor, score: int) -> Request:
    # Kernels of csr form exact products, whatever is allowed.
    return Request(operation, q.shape[2], q.dtype, m=v.shape[2], heads=q.shape[1], score=score)


def _statistic(q: Tensor) -> torch.dtype:
    return torch.float64 if q.dtype == torch.float64 else torch.float32


def _attention(
    a: int, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, scale: float, score: int, slope: float
) -> tuple[Tensor, Tensor]:
    handle = handle_of(a)
    _check(handle, q, k, v, bias, score)
    out, statistics = _fake_attention(a, q, k, v, bias, scale, score, slope)
    if out.numel() == 0:
        return out, statistics
    q, k, v = rows_in_memory(q), rows_in_memory(k), rows_in_memory(v)
    bias = None if bias is None else bias.contiguous()
    plan = handle.plan(_request("attention", q, v, score))
    plan.run(
        (
            operand(q),
            operand(k),
            operand(v),
            None if bias is None else number_list(bias),
            (statistics.data_ptr(), 2, 0),
            operand(out),
        ),
        alpha=scale,
        slope=slope,
    )
    return out, statistics


def _fake_attention(
    a: int, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, scale: float, score: int, slope: float
) -> tuple[Tensor, Tensor]:
    rows, heads = q.shape[0], q.shape[1]
    return q.new_empty((rows, heads, v.shape[2])), q.new_empty((heads, rows, 2), dtype=_statistic(q))


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        a: int,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        bias: Tensor | None,
        scale: float,
        score: int,
        slope: float,
    ) -> tuple[Tensor, Tensor]:
        ctx.handle, ctx.settings = handle_of(a), (a, scale, score, slope)
        out, statistics = attention.below(a, q, k, v, bias, scale, score, slope)
        ctx.save_for_backward(q, k, v, bias, statistics, out)
        ctx.mark_non_differentiable(statistics)
        return out, statistics

    @staticmethod
    def backward(ctx: Any, dout: Tensor, _statistics: Tensor) -> Any:
        a, scale, score, slope = ctx.settings
        wanted = ctx.needs_input_grad
        gradients = attention_gradient(a, *ctx.saved_tensors, dout, scale, score, slope, wanted[4])
        named = [g if want else None for g, want in zip(gradients, wanted[1:5], strict=True)]
        return None, *named, None, None, None


attention = Operator(
    "attention(int a, Tensor q, Tensor k, Tensor v, Tensor? bias, float scale, int score, float slope)"
    " -> (Tensor, Tensor)",
    _attention,
    _fake_attention,
    _Attention,
)


def _attention_gradient(
    a: int,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Tensor | None,
    statistics: Tensor,
    out: Tensor,
    dout: Tensor,
    scale: float,
    score: int,
    slope: float,
    of_bias: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    handle = handle_of(a)
    dq, dk, dv, dbias = _fake_gradient(a, q, k, v, bias, statistics, out, dout, scale, score, slope, of_bias)
    if out.numel() == 0 or k.numel() == 0:
        return dq.zero_(), dk.zero_(), dv.zero_(), dbias.zero_()
    q, k, v = rows_in_memory(q), rows_in_memory(k), rows_in_memory(v)
    out, dout = rows_in_memory(out), rows_in_memory(dout)
    delta = statistics.new_empty((q.shape[1], q.shape[0]))
    of_rows, sums = (statistics.data_ptr(), 2, 0), (delta.data_ptr(), 1, 0)
    x, y, values, g = operand(q), operand(k), operand(v), operand(dout)
    bias_t = None
    if bias is not None:
        bias = bias.contiguous()
        bias_t = bias.index_select(-1, handle.source())
    handle.plan(_request("attention_gradient", q, v, score)).run(
        (
            x,
            y,
            values,
            None if bias is None else number_list(bias),
            of_rows,
            operand(out),
            g,
            sums,
            number_list(dbias) if of_bias else None,
            operand(dq),
        ),
        alpha=scale,
        slope=slope,
    )
    handle.transposed().plan(_request("attention_gradient_t", q, v, score)).run(
        (
            x,
            y,
            values,
            None if bias_t is None else number_list(bias_t),
            of_rows,
            g,
            sums,
            operand(dv),
            operand(dk),
        ),
        alpha=scale,
        slope=slope,
    )
    return dq, dk, dv, dbias


def _fake_gradient(
    a: int,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Tensor | None,
    statistics: Tensor,
    out: Tensor,
    dout: Tensor,
    scale: float,
    score: int,
    slope: float,
    of_bias: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    dbias = q.new_empty((q.shape[1], handle_of(a).pattern.nnz) if of_bias else (0,))
    return q.new_empty(q.shape), k.new_empty(k.shape), v.new_empty(v.shape), dbias


attention_gradient = Operator(
    "attention_gradient(int a, Tensor q, Tensor k, Tensor v, Tensor? bias, Tensor statistics, Tensor out,"
    " Tensor dout, float scale, int score, float slope, bool of_bias) -> (Tensor, Tensor, Tensor, Tensor)",
    _attention_gradient,
    _fake_gradient,
    once_differentiable("attention", "write it with sddmm, softmax and spmm"),
)
