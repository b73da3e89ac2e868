"""The operator sptile::attention: all of a graph attention layer in one kernel, and its gradient.

q [rows, heads, n], k [cols, heads, n], v [cols, heads, m], bias [heads, given] in the order in which entries were
given. Besides the result it keeps two numbers for each row and head; the gradient makes weights anew from them.

Parallel entries are one with a bias that adds up their weights, in float32 or wider.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .._options import CHOICES
from .handle import Entries, Handle, Ref, TorchPlan
from .operands import Sizes, list_in_memory, number_list, operand, pairs, rows_in_memory, singles, statistic
from .operators import Operator, once_differentiable, only_reverse

SCORES = CHOICES["score"]


def _plan(handle: Handle, operation: str, q: Tensor, v: Tensor, score: int) -> TorchPlan:
    # Kernels of csr form exact products, whatever is allowed.
    return handle.plan(operation, q.shape[2], q.dtype, m=v.shape[2], heads=q.shape[1], score=score)


def _of_entries(
    a: Entries, q: Tensor, bias: Tensor | None, *tensors: Tensor
) -> tuple[Tensor | None, Tensor | None, list[Tensor]]:
    """The bias in the order of CSR, the shares of parallel entries in theirs, and tensors of the type in which it
    is exact."""
    if not a.order.repeats:
        return None if bias is None else list_in_memory(a.order.to_csr(bias, -1)), None, list(tensors)
    wide = [x.to(statistic(q.dtype)) for x in tensors]
    if bias is None:
        counts = a.order.counts().log().to(statistic(q.dtype))
        return counts.expand(q.shape[1], -1).contiguous(), None, wide
    joined, shares = a.order.log_sum_exp(bias.to(statistic(q.dtype)))
    return joined.contiguous(), shares, wide


def _attention(
    a: Entries, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, scale: float, score: int, slope: float
) -> tuple[Tensor, Tensor]:
    out, statistics = _fake_attention(a, q, k, v, bias, scale, score, slope)
    if out.numel() == 0:
        return out, statistics
    if a.given == 0:
        return out.zero_(), statistics.zero_()
    dtype = q.dtype
    bias, _shares, (q, k, v, out) = _of_entries(a, q, bias, q, k, v, out)
    q, k, v = rows_in_memory(q), rows_in_memory(k), rows_in_memory(v)
    plan = _plan(a.handle, "attention", q, v, score)
    plan.run(
        (
            operand(q),
            operand(k),
            operand(v),
            None if bias is None else number_list(bias),
            pairs(statistics),
            operand(out),
        ),
        alpha=scale,
        slope=slope,
    )
    return out.to(dtype), statistics


def _fake_attention(
    a: Sizes, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, scale: float, score: int, slope: float
) -> tuple[Tensor, Tensor]:
    rows, heads = q.shape[0], q.shape[1]
    return q.new_empty((rows, heads, v.shape[2])), q.new_empty((heads, rows, 2), dtype=statistic(q.dtype))


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(
        a: Ref,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        bias: Tensor | None,
        scale: float,
        score: int,
        slope: float,
    ) -> tuple[Tensor, Tensor]:
        return attention.below(a, q, k, v, bias, scale, score, slope)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        a, q, k, v, bias, *settings = inputs
        out, statistics = output
        ctx.settings = (a, *settings)
        ctx.save_for_backward(q, k, v, bias, statistics, out)
        ctx.mark_non_differentiable(statistics)

    @staticmethod
    def backward(ctx: Any, dout: Tensor, _statistics: Tensor) -> Any:
        a, scale, score, slope = ctx.settings
        wanted = ctx.needs_input_grad
        gradients = attention_gradient.again(a, *ctx.saved_tensors, dout, scale, score, slope, wanted[4])
        named = [g if want else None for g, want in zip(gradients, wanted[1:5], strict=True)]
        return None, *named, None, None, None

    jvp = vmap = only_reverse("attention")


attention = Operator(
    "attention(a, Tensor q, Tensor k, Tensor v, Tensor? bias, float scale, int score, float slope)"
    " -> (Tensor, Tensor)",
    _attention,
    _fake_attention,
    _Attention,
)


def _attention_gradient(
    a: Entries,
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
    handle, dtype = a.handle, q.dtype
    dq, dk, dv, dbias = _fake_gradient(a, q, k, v, bias, statistics, out, dout, scale, score, slope, of_bias)
    if out.numel() == 0 or a.given == 0:
        return dq.zero_(), dk.zero_(), dv.zero_(), dbias.zero_()
    bias, shares, (q, k, v, out, dout, dq, dk, dv) = _of_entries(a, q, bias, q, k, v, out, dout, dq, dk, dv)
    dbias = q.new_empty((q.shape[1], handle.pattern.nnz) if of_bias else (0,))
    q, k, v = rows_in_memory(q), rows_in_memory(k), rows_in_memory(v)
    out, dout = rows_in_memory(out), rows_in_memory(dout)
    delta = statistics.new_empty((q.shape[1], q.shape[0]))
    statistics = list_in_memory(statistics)
    of_rows, sums = pairs(statistics), singles(delta)
    x, y, values, g = operand(q), operand(k), operand(v), operand(dout)
    bias_t = None if bias is None else bias.index_select(-1, handle.source())
    _plan(handle, "attention_gradient", q, v, score).run(
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
    _plan(handle.transposed(), "attention_gradient_t", q, v, score).run(
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
    if of_bias:
        dbias = a.order.from_csr(dbias, -1)
        dbias = dbias if shares is None else dbias * shares
    return dq.to(dtype), dk.to(dtype), dv.to(dtype), dbias.to(dtype)


def _fake_gradient(
    a: Sizes,
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
    dbias = q.new_empty((q.shape[1], a.given) if of_bias else (0,))
    return q.new_empty(q.shape), k.new_empty(k.shape), v.new_empty(v.shape), dbias


attention_gradient = Operator(
    "attention_gradient(a, Tensor q, Tensor k, Tensor v, Tensor? bias, Tensor statistics, Tensor out,"
    " Tensor dout, float scale, int score, float slope, bool of_bias) -> (Tensor, Tensor, Tensor, Tensor)",
    _attention_gradient,
    _fake_gradient,
    once_differentiable("attention", "use sddmm, softmax and spmm instead"),
)
