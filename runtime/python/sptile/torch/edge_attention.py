"""The operator sptile::edge_attention: attention with edge features in keys and values.

The weights are the softmax of ``scale * (q[i] . k[j] + edge_queries[i] . edges[e])``. With a seed, they are dropped with
probability p (`dropout`). The results are sums of weights times v[j] and times edges[e], by row.

edges [given, m] in the order in which entries were given, shared by all heads, or [given, heads, m], q [rows, heads, n],
k and v [cols, heads, n], edge_queries [rows, heads, m]. Besides the results it keeps two numbers
for each row and head; the gradient computes weights again from them, and allocates four numbers per entry and head.

Parallel entries each have a weight, as in PyG.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from ..errors import UsageError
from . import operators
from .dropout import factors_in_order
from .handle import Entries, Handle, Ref, TorchPlan
from .operands import (
    Sizes,
    list_in_memory,
    number_list,
    operand,
    optional_list,
    rows_in_memory,
    statistic,
)
from .operators import Operator, once_differentiable, only_reverse


def _plan(handle: Handle, operation: str, edges: Tensor, q: Tensor) -> TorchPlan:
    return handle.plan(operation, q.shape[2], q.dtype, heads=q.shape[1], m=edges.shape[-1])


def _missing(x: Tensor) -> int:
    """Returns the number of zeros that complete rows to pieces of 16 bytes, in which CUDA kernels move them. Other rows
    take a slower kernel."""
    return -x.shape[-1] % (16 // x.element_size()) if x.is_cuda and x.dtype != torch.float64 else 0


def _padded(x: Tensor) -> Tensor:
    """Returns rows in memory, with zeros that complete them."""
    return functional.pad(x, (0, missing)) if (missing := _missing(x)) > 0 else rows_in_memory(x)


def _result(x: Tensor) -> Tensor:
    """Returns memory for x, with complete rows."""
    return x.new_empty((*x.shape[:-1], x.shape[-1] + missing)) if (missing := _missing(x)) > 0 else x


def _take(x: Tensor, found: Tensor) -> None:
    if found is not x:
        x.copy_(found[..., : x.shape[-1]])


def _check_width(edges: Tensor) -> None:
    if edges.shape[-1] == 0:
        raise UsageError("edge_attention: edges must have at least one column")


def _edge_attention(
    a: Entries,
    edges: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    edge_queries: Tensor,
    seed: Tensor | None,
    p: float,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor]:
    _check_width(edges)
    out, sums, statistics = _fake_edge_attention(a, edges, q, k, v, edge_queries, seed, p, scale)
    if out.numel() == 0 or a.given == 0:
        return out.zero_(), sums.zero_(), statistics.zero_()
    a = operators.every_of(a)
    edges, factors = _padded(a.order.to_csr(edges, 0)), factors_in_order(a, q.shape[1], seed, p, q.dtype)
    q, k, v, edge_queries = _padded(q), _padded(k), _padded(v), _padded(edge_queries)
    padded_out, padded_sums = _result(out), _result(sums)
    _plan(a.handle, "edge_attention", edges, q).run(
        (
            operand(q),
            operand(k),
            operand(v),
            optional_list(factors),
            operand(statistics),
            operand(edges),
            operand(edge_queries),
            operand(padded_sums),
            operand(padded_out),
        ),
        alpha=scale,
    )
    _take(out, padded_out)
    _take(sums, padded_sums)
    return out, sums, statistics


def _fake_edge_attention(
    a: Sizes,
    edges: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    edge_queries: Tensor,
    seed: Tensor | None,
    p: float,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor]:
    statistics = q.new_empty((*q.shape[:2], 2), dtype=statistic(q.dtype))
    return q.new_empty(q.shape), q.new_empty(edge_queries.shape), statistics


class _EdgeAttention(torch.autograd.Function):
    @staticmethod
    def forward(
        a: Ref,
        edges: Tensor,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        edge_queries: Tensor,
        seed: Tensor | None,
        p: float,
        scale: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        return edge_attention.below(a, edges, q, k, v, edge_queries, seed, p, scale)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.a, *tensors, ctx.p, ctx.scale = inputs
        out, sums, statistics = output
        ctx.save_for_backward(*tensors, statistics, out, sums)
        ctx.mark_non_differentiable(statistics)

    @staticmethod
    def backward(ctx: Any, dout: Tensor, dsums: Tensor, _statistics: Tensor) -> Any:
        wanted = ctx.needs_input_grad
        settings = ctx.p, ctx.scale, wanted[1]
        gradients = edge_attention_gradient.again(ctx.a, *ctx.saved_tensors, dout, dsums, *settings)
        named = [g if want else None for g, want in zip(gradients, wanted[1:6], strict=True)]
        return None, *named, None, None, None

    jvp = vmap = only_reverse("edge_attention")


edge_attention = Operator(
    "edge_attention(a, Tensor edges, Tensor q, Tensor k, Tensor v, Tensor edge_queries, Tensor? seed, float p,"
    " float scale) -> (Tensor, Tensor, Tensor)",
    _edge_attention,
    _fake_edge_attention,
    _EdgeAttention,
)


def _gradient(
    a: Entries,
    edges: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    edge_queries: Tensor,
    seed: Tensor | None,
    statistics: Tensor,
    out: Tensor,
    sums: Tensor,
    dout: Tensor,
    dsums: Tensor,
    p: float,
    scale: float,
    of_edges: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    _check_width(edges)
    dedges, dq, dk, dv, dedge_queries = _fake_gradient(
        a, edges, q, k, v, edge_queries, seed, statistics, out, sums, dout, dsums, p, scale, of_edges
    )
    if out.numel() == 0 or a.given == 0:
        return dedges.zero_(), dq.zero_(), dk.zero_(), dv.zero_(), dedge_queries.zero_()
    a = operators.every_of(a)
    handle, heads, m = a.handle, q.shape[1], edges.shape[-1]
    nnz, shared = handle.pattern.nnz, edges.dim() == 2
    edges, factors = _padded(a.order.to_csr(edges, 0)), factors_in_order(a, q.shape[1], seed, p, q.dtype)
    q, dout = rows_in_memory(q), rows_in_memory(dout)
    lists = q.new_empty((2, heads, nnz))
    by_entry = q.new_empty((nnz, heads, edges.shape[-1])) if of_edges else None
    padded_q, padded_dout = _padded(q), _padded(dout)
    padded_dq, padded_dedge_queries = _result(dq), _result(dedge_queries)
    # In variables, because the run reads the memory of copies, too.
    k, v, edge_queries, sums, out, dsums = (_padded(x) for x in (k, v, edge_queries, sums, out, dsums))
    statistics = list_in_memory(statistics)
    _plan(handle, "edge_attention_gradient", edges, padded_q).run(
        (
            operand(padded_q),
            operand(k),
            operand(v),
            optional_list(factors),
            operand(statistics),
            operand(edges),
            operand(edge_queries),
            operand(sums),
            operand(out),
            operand(dsums),
            operand(padded_dout),
            number_list(lists[0]),
            number_list(lists[1]),
            None if by_entry is None else operand(by_entry),
            operand(padded_dedge_queries),
            operand(padded_dq),
        ),
        alpha=scale,
    )
    _take(dq, padded_dq)
    _take(dedge_queries, padded_dedge_queries)
    if by_entry is not None:
        by_entry = by_entry[..., :m].sum(1) if shared else by_entry[..., :m]
        dedges = a.order.from_csr(by_entry.contiguous(), 0)
    if dk.numel() > 0:
        # The gradients of keys and values are products of A^T with the lists as values.
        precision = "fp32" if q.is_cuda and q.dtype == torch.float32 else None
        plan = handle.transposed().plan("spmm", q.shape[2], q.dtype, precision, True, heads=heads)
        weights, dscores = lists.index_select(2, handle.source())
        plan.run((operand(dout), operand(dv)), number_list(weights)[0], nnz)
        plan.run((operand(q), operand(dk)), number_list(dscores)[0], nnz, alpha=scale)
    return dedges, dq, dk, dv, dedge_queries


def _fake_gradient(
    a: Sizes,
    edges: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    edge_queries: Tensor,
    seed: Tensor | None,
    statistics: Tensor,
    out: Tensor,
    sums: Tensor,
    dout: Tensor,
    dsums: Tensor,
    p: float,
    scale: float,
    of_edges: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    dedges = q.new_empty((a.given if of_edges else 0, *edges.shape[1:]))
    return (
        dedges,
        q.new_empty(q.shape),
        q.new_empty(k.shape),
        q.new_empty(v.shape),
        q.new_empty(edge_queries.shape),
    )


edge_attention_gradient = Operator(
    "edge_attention_gradient(a, Tensor edges, Tensor q, Tensor k, Tensor v, Tensor edge_queries, Tensor? seed,"
    " Tensor statistics, Tensor out, Tensor sums, Tensor dout, Tensor dsums, float p, float scale,"
    " bool of_edges) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    _gradient,
    _fake_gradient,
    once_differentiable("edge_attention", "use sddmm, softmax and spmm instead"),
)
