"""The operator sptile::gatv2_edges: GATv2 attention with the score vector . leaky_relu(x[i] + y[j] + weight features[e]).

features [given, width] in the order in which entries were given, shared by all heads, and weight [heads, n, width], of
at most 16 features per entry; the other operands are those of `gatv2`. No tensor of size entries times n is made, in
the gradient, too: it keeps two numbers for each row and head, and allocates one for each entry and head. Features
themselves have no gradient.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..errors import UnsupportedError
from . import operators
from .dropout import factors_in_order
from .gatv2 import list_in_order
from .handle import Entries, Handle, Ref, TorchPlan
from .operands import (
    Sizes,
    beside,
    list_in_memory,
    matrices_of_heads,
    number_list,
    operand,
    optional_list,
    rows_in_memory,
    rows_of_heads,
    statistic,
)
from .operators import Operator, once_differentiable, only_reverse

# The largest width of features, as in the library, and the most columns of a head that CUDA kernels keep in registers.
MOST_FEATURES = 16
MOST_CUDA_COLUMNS = 128


def _plan(handle: Handle, operation: str, x: Tensor, features: Tensor) -> TorchPlan:
    return handle.plan(operation, x.shape[2], x.dtype, heads=x.shape[1], m=features.shape[1])


def _gatv2_edges(
    a: Entries,
    x: Tensor,
    y: Tensor,
    vector: Tensor,
    bias: Tensor | None,
    features: Tensor,
    weight: Tensor,
    seed: Tensor | None,
    p: float,
    slope: float,
) -> tuple[Tensor, Tensor]:
    out, statistics = _fake_gatv2_edges(a, x, y, vector, bias, features, weight, seed, p, slope)
    if out.numel() == 0:
        return out, statistics
    if a.given == 0:
        return out.zero_(), statistics.zero_()
    a = operators.every_of(a)
    x, y, vector, weight = rows_in_memory(x), rows_in_memory(y), list_in_memory(vector), list_in_memory(weight)
    bias, factors = list_in_order(a, bias), factors_in_order(a, x.shape[1], seed, p, x.dtype)
    features = rows_in_memory(a.order.to_csr(features, 0))
    _plan(a.handle, "gatv2_edges", x, features).run(
        (
            operand(x),
            operand(y),
            rows_of_heads(vector),
            optional_list(bias),
            operand(statistics),
            optional_list(factors),
            operand(features),
            matrices_of_heads(weight),
            operand(out),
        ),
        slope=slope,
    )
    return out, statistics


def _fake_gatv2_edges(
    a: Sizes,
    x: Tensor,
    y: Tensor,
    vector: Tensor,
    bias: Tensor | None,
    features: Tensor,
    weight: Tensor,
    seed: Tensor | None,
    p: float,
    slope: float,
) -> tuple[Tensor, Tensor]:
    return x.new_empty(x.shape), x.new_empty((*x.shape[:2], 2), dtype=statistic(x.dtype))


class _Gatv2Edges(torch.autograd.Function):
    @staticmethod
    def forward(
        a: Ref,
        x: Tensor,
        y: Tensor,
        vector: Tensor,
        bias: Tensor | None,
        features: Tensor,
        weight: Tensor,
        seed: Tensor | None,
        p: float,
        slope: float,
    ) -> tuple[Tensor, Tensor]:
        return gatv2_edges.below(a, x, y, vector, bias, features, weight, seed, p, slope)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.a, *tensors, ctx.p, ctx.slope = inputs
        if ctx.needs_input_grad[5]:
            raise UnsupportedError("gatv2_edges: features have no gradient; multiply them by the weights and use gatv2")
        out, statistics = output
        ctx.save_for_backward(*tensors, statistics, out)
        ctx.mark_non_differentiable(statistics)

    @staticmethod
    def backward(ctx: Any, dout: Tensor, _statistics: Tensor) -> Any:
        wanted = ctx.needs_input_grad
        dx, dy, dvector, dweight = gatv2_edges_gradient.again(ctx.a, *ctx.saved_tensors, dout, ctx.p, ctx.slope)
        named = [g if want else None for g, want in zip((dx, dy, dvector), wanted[1:4], strict=True)]
        return None, *named, None, None, dweight if wanted[6] else None, None, None, None

    jvp = vmap = only_reverse("gatv2_edges")


gatv2_edges = Operator(
    "gatv2_edges(a, Tensor x, Tensor y, Tensor vector, Tensor? bias, Tensor features, Tensor weight,"
    " Tensor? seed, float p, float slope) -> (Tensor, Tensor)",
    _gatv2_edges,
    _fake_gatv2_edges,
    _Gatv2Edges,
)


def _gradient(
    a: Entries,
    x: Tensor,
    y: Tensor,
    vector: Tensor,
    bias: Tensor | None,
    features: Tensor,
    weight: Tensor,
    seed: Tensor | None,
    statistics: Tensor,
    out: Tensor,
    dout: Tensor,
    p: float,
    slope: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    dx, dy, dvector, dweight = _fake_gradient(
        a, x, y, vector, bias, features, weight, seed, statistics, out, dout, p, slope
    )
    if a.given == 0 or out.numel() == 0:
        return dx.zero_(), dy.zero_(), dvector.zero_(), dweight.zero_()
    a = operators.every_of(a)
    handle, heads = a.handle, x.shape[1]
    x, y, vector, weight = rows_in_memory(x), rows_in_memory(y), list_in_memory(vector), list_in_memory(weight)
    bias, factors = list_in_order(a, bias), factors_in_order(a, x.shape[1], seed, p, x.dtype)
    features = rows_in_memory(a.order.to_csr(features, 0))
    statistics, out, dout = list_in_memory(statistics), rows_in_memory(out), rows_in_memory(dout)
    delta = statistics.new_empty((x.shape[0], heads))
    ds = statistics.new_empty((heads, handle.pattern.nnz))
    of_rows = statistics.new_empty(x.shape)
    _plan(handle, "gatv2_edges_gradient", x, features).run(
        (
            operand(x),
            operand(y),
            rows_of_heads(vector),
            optional_list(bias),
            operand(statistics),
            optional_list(factors),
            operand(features),
            matrices_of_heads(weight),
            operand(out),
            operand(dout),
            beside(delta),
            number_list(ds),
            operand(of_rows),
            operand(dx),
        ),
        slope=slope,
    )
    dvector = of_rows.sum(0).to(vector.dtype)
    _plan(handle, "gatv2_edges_weights", x, features).run(
        (
            operand(x),
            operand(y),
            rows_of_heads(vector),
            number_list(ds),
            operand(features),
            matrices_of_heads(weight),
            matrices_of_heads(dweight),
        ),
        slope=slope,
    )
    if dy.numel() == 0:
        return dx, dy, dvector, dweight
    source = handle.source()
    bias, factors = (None if one is None else one.index_select(1, source) for one in (bias, factors))
    features = features.index_select(0, source)
    _plan(handle.transposed(), "gatv2_edges_gradient_t", x, features).run(
        (
            operand(x),
            operand(y),
            rows_of_heads(vector),
            optional_list(bias),
            operand(statistics),
            optional_list(factors),
            operand(features),
            matrices_of_heads(weight),
            operand(dout),
            beside(delta),
            operand(dy),
        ),
        slope=slope,
    )
    return dx, dy, dvector, dweight


def _fake_gradient(
    a: Sizes,
    x: Tensor,
    y: Tensor,
    vector: Tensor,
    bias: Tensor | None,
    features: Tensor,
    weight: Tensor,
    seed: Tensor | None,
    statistics: Tensor,
    out: Tensor,
    dout: Tensor,
    p: float,
    slope: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return (
        x.new_empty(x.shape),
        y.new_empty(y.shape),
        vector.new_empty(vector.shape),
        weight.new_empty(weight.shape),
    )


gatv2_edges_gradient = Operator(
    "gatv2_edges_gradient(a, Tensor x, Tensor y, Tensor vector, Tensor? bias, Tensor features, Tensor weight,"
    " Tensor? seed, Tensor statistics, Tensor out, Tensor dout, float p, float slope) -> (Tensor, Tensor, Tensor, Tensor)",
    _gradient,
    _fake_gradient,
    once_differentiable("gatv2_edges", "use sddmm, softmax and spmm instead"),
)
