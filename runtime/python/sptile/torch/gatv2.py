"""The operator sptile::gatv2: attention with the score vector . leaky_relu(x[i] + y[j] + edges[e]) and values y.

x [rows, heads, n], y [cols, heads, n], vector [heads, n], bias [heads, given], edges [given, heads, n] in the order in
which entries were given. With a seed, weights are dropped with probability p (`dropout`). Besides the result it keeps
two numbers for each row and head; the gradient computes weights again from them.

Parallel entries each have a weight, as in PyG.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import operators
from .dropout import factors_in_order
from .handle import Entries, Handle, Ref, TorchPlan
from .matrix import SparseMatrix
from .operands import (
    Sizes,
    beside,
    list_in_memory,
    number_list,
    operand,
    rows_in_memory,
    rows_of_heads,
    statistic,
)
from .operators import Operator, once_differentiable, only_reverse
from .pattern import EntryOrder, Pattern, apart


def every_in_order(a: SparseMatrix) -> tuple[SparseMatrix, Tensor | None]:
    """Returns the pattern with every given entry, parallel ones too, in CSR order, and the given entry at each of its
    places; None if they are the same. The matrix keeps it."""

    def make() -> tuple[SparseMatrix, Tensor | None]:
        every = operators.every_of(a._entries.entries)
        return SparseMatrix._of(every.handle, EntryOrder(every.given), None), every.order.source

    return a._derive("every in order", make)


def _incidence(handle: Handle) -> Handle:
    """Returns the cols x nnz matrix whose row j has the entries of column j."""
    found = handle.derived.get("incidence")
    if found is None:
        with apart():
            crow = handle.transposed().pattern.crow
            col = handle.source().to(torch.int32)
            found = Handle(Pattern(handle.pattern.cols, handle.pattern.nnz, crow, col))
        handle.derived["incidence"] = found
    incidence: Handle = found
    return incidence


def _plan(handle: Handle, operation: str, x: Tensor) -> TorchPlan:
    return handle.plan(operation, x.shape[2], x.dtype, heads=x.shape[1])


def list_in_order(a: Entries, values: Tensor | None) -> Tensor | None:
    """Returns the values of given entries [heads, given] in the order of CSR, for kernels; None if there are none."""
    return None if values is None else list_in_memory(a.order.to_csr(values, -1))


def _rows(a: Entries, edges: Tensor | None) -> Tensor | None:
    return None if edges is None else rows_in_memory(a.order.to_csr(edges, 0))


def _optional(x: Tensor | None) -> tuple[int, int, int] | None:
    return None if x is None else number_list(x) if x.dim() == 2 else operand(x)


def _gatv2(
    a: Entries,
    x: Tensor,
    y: Tensor,
    vector: Tensor,
    bias: Tensor | None,
    edges: Tensor | None,
    seed: Tensor | None,
    p: float,
    slope: float,
) -> tuple[Tensor, Tensor]:
    out, statistics = _fake_gatv2(a, x, y, vector, bias, edges, seed, p, slope)
    if out.numel() == 0:
        return out, statistics
    if a.given == 0:
        return out.zero_(), statistics.zero_()
    a = operators.every_of(a)
    x, y, vector = rows_in_memory(x), rows_in_memory(y), list_in_memory(vector)
    bias, factors, edges = list_in_order(a, bias), factors_in_order(a, x.shape[1], seed, p, x.dtype), _rows(a, edges)
    _plan(a.handle, "gatv2", x).run(
        (
            operand(x),
            operand(y),
            rows_of_heads(vector),
            _optional(bias),
            operand(statistics),
            _optional(factors),
            _optional(edges),
            operand(out),
        ),
        slope=slope,
    )
    return out, statistics


def _fake_gatv2(
    a: Sizes,
    x: Tensor,
    y: Tensor,
    vector: Tensor,
    bias: Tensor | None,
    edges: Tensor | None,
    seed: Tensor | None,
    p: float,
    slope: float,
) -> tuple[Tensor, Tensor]:
    return x.new_empty(x.shape), x.new_empty((*x.shape[:2], 2), dtype=statistic(x.dtype))


class _Gatv2(torch.autograd.Function):
    @staticmethod
    def forward(
        a: Ref,
        x: Tensor,
        y: Tensor,
        vector: Tensor,
        bias: Tensor | None,
        edges: Tensor | None,
        seed: Tensor | None,
        p: float,
        slope: float,
    ) -> tuple[Tensor, Tensor]:
        return gatv2.below(a, x, y, vector, bias, edges, seed, p, slope)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.a, *tensors, ctx.p, ctx.slope = inputs
        out, statistics = output
        ctx.save_for_backward(*tensors, statistics, out)
        ctx.mark_non_differentiable(statistics)

    @staticmethod
    def backward(ctx: Any, dout: Tensor, _statistics: Tensor) -> Any:
        wanted = ctx.needs_input_grad
        dx, dy, dvector, dedges = gatv2_gradient.again(ctx.a, *ctx.saved_tensors, dout, ctx.p, ctx.slope)
        named = [g if want else None for g, want in zip((dx, dy, dvector), wanted[1:4], strict=True)]
        return None, *named, None, dedges if wanted[5] else None, None, None, None

    jvp = vmap = only_reverse("gatv2")


gatv2 = Operator(
    "gatv2(a, Tensor x, Tensor y, Tensor vector, Tensor? bias, Tensor? edges, Tensor? seed, float p,"
    " float slope) -> (Tensor, Tensor)",
    _gatv2,
    _fake_gatv2,
    _Gatv2,
)


def _gradient(
    a: Entries,
    x: Tensor,
    y: Tensor,
    vector: Tensor,
    bias: Tensor | None,
    edges: Tensor | None,
    seed: Tensor | None,
    statistics: Tensor,
    out: Tensor,
    dout: Tensor,
    p: float,
    slope: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    dx, dy, dvector, dedges = _fake_gradient(
        a, x, y, vector, bias, edges, seed, statistics, out, dout, p, slope
    )
    if a.given == 0 or out.numel() == 0:
        return dx.zero_(), dy.zero_(), dvector.zero_(), dedges.zero_()
    a = operators.every_of(a)
    handle, heads = a.handle, x.shape[1]
    x, y, vector, statistics = rows_in_memory(x), rows_in_memory(y), list_in_memory(vector), list_in_memory(statistics)
    bias, factors, edges = list_in_order(a, bias), factors_in_order(a, x.shape[1], seed, p, x.dtype), _rows(a, edges)
    out, dout = rows_in_memory(out), rows_in_memory(dout)
    delta = statistics.new_empty((x.shape[0], heads))
    of_rows = statistics.new_empty(x.shape)
    weights = None if edges is None else x.new_empty((heads, handle.pattern.nnz))
    of_edges = None if edges is None else x.new_empty((handle.pattern.nnz, *x.shape[1:]))
    _plan(handle, "gatv2_gradient", x).run(
        (
            operand(x),
            operand(y),
            rows_of_heads(vector),
            _optional(bias),
            operand(statistics),
            _optional(factors),
            _optional(edges),
            operand(out),
            operand(dout),
            beside(delta),
            _optional(weights),
            _optional(of_edges),
            operand(of_rows),
            operand(dx),
        ),
        slope=slope,
    )
    dvector = of_rows.sum(0).to(vector.dtype)
    if dy.numel() == 0:
        return dx, dy, dvector, dedges if of_edges is None else a.order.from_csr(of_edges, 0)
    back = handle.transposed()
    if weights is not None and of_edges is not None:
        # Both terms of dY are sums over the entries of a column: weights times dout, and dedges.
        precision = "fp32" if x.is_cuda and x.dtype == torch.float32 else None
        plan = back.plan("spmm", x.shape[2], x.dtype, precision, True, heads=heads)
        of_columns = weights.index_select(1, handle.source())
        plan.run((operand(dout), operand(dy)), number_list(of_columns)[0], handle.pattern.nnz)
        incidence = _incidence(handle).plan("spmm", heads * x.shape[2], x.dtype, precision)
        incidence.run((operand(of_edges.flatten(1)), operand(dy.flatten(1))), beta=1.0)
        return dx, dy, dvector, a.order.from_csr(of_edges, 0)
    bias, factors = (None if one is None else one.index_select(1, handle.source()) for one in (bias, factors))
    _plan(back, "gatv2_gradient_t", x).run(
        (
            operand(x),
            operand(y),
            rows_of_heads(vector),
            _optional(bias),
            operand(statistics),
            _optional(factors),
            operand(dout),
            beside(delta),
            operand(dy),
        ),
        slope=slope,
    )
    return dx, dy, dvector, dedges


def _fake_gradient(
    a: Sizes,
    x: Tensor,
    y: Tensor,
    vector: Tensor,
    bias: Tensor | None,
    edges: Tensor | None,
    seed: Tensor | None,
    statistics: Tensor,
    out: Tensor,
    dout: Tensor,
    p: float,
    slope: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    given = 0 if edges is None else a.given
    return x.new_empty(x.shape), y.new_empty(y.shape), vector.new_empty(vector.shape), x.new_empty((given, *x.shape[1:]))


gatv2_gradient = Operator(
    "gatv2_gradient(a, Tensor x, Tensor y, Tensor vector, Tensor? bias, Tensor? edges, Tensor? seed,"
    " Tensor statistics, Tensor out, Tensor dout, float p, float slope) -> (Tensor, Tensor, Tensor, Tensor)",
    _gradient,
    _fake_gradient,
    once_differentiable("gatv2", "use sddmm, softmax and spmm instead"),
)
