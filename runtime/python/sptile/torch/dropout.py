"""Dropout of numbers of entries. The mask is a function of a seed, the position of the entry and the head, so that
gradients compute it again instead of keeping it.

    dropped(a, values, seed, p)                values [heads, given] times 0, or 1 / (1 - p)
    dropped_spmm(a, b, values, seed, p)        A b with dropped values: b [cols, heads, n]
    dropped_attention(a, v, q, k, ...)         attention with dropped weights; keeps no number of an entry
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from ..errors import UsageError
from . import operators
from .handle import Entries, Ref
from .operands import Sizes, list_in_memory
from .operators import Operator, once_differentiable, only_reverse

# SplitMix64 (Steele, Lea, Flood 2014): the increment, and the shifts and factors of its mixing function.
_GAMMA = 0x9E3779B97F4A7C15
_MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))
# Hashes in one block: they fit in L2 of a CPU, and keep a device busy.
_BLOCK = {"cpu": 1 << 15, "cuda": 1 << 22}


def new_seed(device: torch.device) -> Tensor:
    """Returns a seed, int64 [], from the random numbers of torch on a device."""
    return torch.randint(-(2**63), 2**63 - 1, (), dtype=torch.int64, device=device)


def _signed(number: int) -> int:
    """Returns a number modulo 2^64 as int64."""
    number %= 1 << 64
    return number - (1 << 64) if number >> 63 else number


def _mix(z: Tensor) -> Tensor:
    """Applies the mixing function to int64 numbers in place. Shifts of int64 copy the sign, so a mask removes it."""
    for shift, factor in _MIX:
        shifted = z >> shift
        z ^= shifted.bitwise_and_((1 << (64 - shift)) - 1)
        if factor != 1:
            z *= _signed(factor)
    return z


def factors(
    seed: Tensor, count: int, heads: int, p: float, dtype: torch.dtype, places: Tensor | None = None
) -> Tensor:
    """Returns 0 with probability p, otherwise 1 / (1 - p), for each head and entry: [heads, count]. Numbers of entries
    are 0 to count - 1, or places [count].

    Number i of SplitMix64, started with the seed, has two numbers of 32 bits: those of heads 2 k and 2 k + 1 of entry
    e, where i = e * ceil(heads / 2) + k. An entry is dropped if its number, as a signed one, is below p * 2^32 - 2^31.
    The result is the same on all devices. UsageError unless p is from 0 to 1.
    """
    if not 0 <= p <= 1:
        raise UsageError(f"the probability of dropout must be from 0 to 1, got {p}")
    out = torch.empty((heads, count), dtype=dtype, device=seed.device)
    if p == 1 or out.numel() == 0:
        return out.zero_()
    pairs = (heads + 1) // 2
    first = torch.arange(1, pairs + 1, device=seed.device).mul_(_signed(_GAMMA)).add_(seed).unsqueeze(1)
    limit = min(round(p * 2**32), 2**32 - 1) - 2**31  # of signed numbers
    step = max(1, _BLOCK[seed.device.type] // pairs)
    for begin in range(0, count, step):
        block = out[:, begin : begin + step]
        end = begin + block.shape[1]
        entries = torch.arange(begin, end, device=seed.device) if places is None else places[begin:end].long()
        hashes = _mix(entries * _signed(pairs * _GAMMA) + first)  # [pairs, entries]
        kept = hashes.view(torch.int32).unflatten(1, (-1, 2)) >= limit
        for half in (0, 1):
            part = block[half::2]
            part.copy_(kept[: part.shape[0], :, half])
    return out.mul_(1 / (1 - p))


def factors_in_order(a: Entries, heads: int, seed: Tensor | None, p: float, dtype: torch.dtype) -> Tensor | None:
    """Returns the factors of the given entries in the order of CSR, as a list for kernels; None without a seed."""
    return None if seed is None else list_in_memory(a.order.to_csr(factors(seed, a.given, heads, p, dtype), -1))


# ---- dropped ----


def _dropped(a: Entries, values: Tensor, seed: Tensor, p: float) -> Tensor:
    return factors(seed, a.given, values.shape[0], p, values.dtype).mul_(values)


def _fake_dropped(a: Sizes, values: Tensor, seed: Tensor, p: float) -> Tensor:
    return values.new_empty(values.shape)


class _Dropped(torch.autograd.Function):
    @staticmethod
    def forward(a: Ref, values: Tensor, seed: Tensor, p: float) -> Tensor:
        return dropped.below(a, values, seed, p)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.a, _values, seed, ctx.p = inputs
        ctx.save_for_backward(seed)
        ctx.save_for_forward(seed)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        return None, dropped.again(ctx.a, g, *ctx.saved_tensors, ctx.p), None, None

    @staticmethod
    def jvp(ctx: Any, _a: Any, dvalues: Tensor, _seed: Any, _p: Any) -> Tensor:
        return dropped.again(ctx.a, dvalues, *ctx.saved_tensors, ctx.p)

    @staticmethod
    def vmap(info: Any, dims: Any, a: Ref, values: Tensor, seed: Tensor, p: float) -> Any:
        batches = (operators.batch_first(x, dim, info.batch_size) for x, dim in ((values, dims[1]), (seed, dims[2])))
        return torch.stack([dropped(a, one, other, p) for one, other in zip(*batches, strict=True)]), 0


dropped = Operator("dropped(a, Tensor values, Tensor seed, float p) -> Tensor", _dropped, _fake_dropped, _Dropped)


# ---- dropped_spmm ----


def _spmm(a: Entries, b: Tensor, values: Tensor, seed: Tensor, p: float) -> Tensor:
    return operators._spmm(a, False, b, _dropped(a, values, seed, p))


def _fake_spmm(a: Sizes, b: Tensor, values: Tensor, seed: Tensor, p: float) -> Tensor:
    return b.new_empty((a.rows, *b.shape[1:]))


class _DroppedSpmm(torch.autograd.Function):
    @staticmethod
    def forward(a: Ref, b: Tensor, values: Tensor, seed: Tensor, p: float) -> Tensor:
        return dropped_spmm.below(a, b, values, seed, p)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.a, *tensors, ctx.p = inputs
        ctx.save_for_backward(*tensors)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        _a, of_b, of_values, *_rest = ctx.needs_input_grad
        db, dvalues = dropped_spmm_gradient.again(ctx.a, g, *ctx.saved_tensors, ctx.p, of_b, of_values)
        return None, db if of_b else None, dvalues if of_values else None, None, None

    jvp = vmap = only_reverse("dropped_spmm", "attention")


dropped_spmm = Operator(
    "dropped_spmm(a, Tensor b, Tensor values, Tensor seed, float p) -> Tensor", _spmm, _fake_spmm, _DroppedSpmm
)


def _spmm_gradient(
    a: Entries, g: Tensor, b: Tensor, values: Tensor, seed: Tensor, p: float, of_b: bool, of_values: bool
) -> tuple[Tensor, Tensor]:
    db, dvalues = _fake_spmm_gradient(a, g, b, values, seed, p, of_b, of_values)
    mask = factors(seed, a.given, values.shape[0], p, values.dtype)
    if of_b:
        db = operators._spmm(a, True, g, values * mask)
    if of_values:
        dvalues = operators._sddmm(a, g, b) * mask
    return db, dvalues


def _fake_spmm_gradient(
    a: Sizes, g: Tensor, b: Tensor, values: Tensor, seed: Tensor, p: float, of_b: bool, of_values: bool
) -> tuple[Tensor, Tensor]:
    return b.new_empty(b.shape if of_b else (0,)), values.new_empty(values.shape if of_values else (0,))


dropped_spmm_gradient = Operator(
    "dropped_spmm_gradient(a, Tensor g, Tensor b, Tensor values, Tensor seed, float p, bool of_b, bool of_values)"
    " -> (Tensor, Tensor)",
    _spmm_gradient,
    _fake_spmm_gradient,
    once_differentiable("dropped_spmm", "use dropped and spmm instead"),
)


# ---- dropped_attention ----


def _sorted(a: Entries, bias: Tensor | None) -> tuple[Entries, Tensor | None, Tensor | None]:
    """Returns every entry in the order of CSR, in which no list has to be moved, the bias in this order, and the given
    entry of each; None: in order."""
    source = operators.every_of(a).order.source
    bias = bias if bias is None or source is None else bias.index_select(1, source)
    return operators.in_csr_order(a), bias, source


def _weights(
    a: Entries, q: Tensor, k: Tensor, bias: Tensor | None, scale: float, slope: float
) -> tuple[Tensor, Tensor]:
    """Returns dot products, and the weights before dropout."""
    if not (math.isfinite(scale) and math.isfinite(slope)):
        raise UsageError(f"dropped_attention: scale and slope must be finite, got {scale} and {slope}")
    dots = operators._sddmm(a, q, k)
    scores = (dots if slope == 1 else functional.leaky_relu(dots, slope)) * scale
    return dots, operators._softmax(a, scores if bias is None else scores + bias)


def _attention(
    a: Entries,
    v: Tensor,
    q: Tensor,
    k: Tensor,
    bias: Tensor | None,
    seed: Tensor,
    p: float,
    scale: float,
    slope: float,
) -> Tensor:
    a, bias, source = _sorted(a, bias)
    _dots, weights = _weights(a, q, k, bias, scale, slope)
    weights *= factors(seed, a.given, weights.shape[0], p, weights.dtype, source)
    return operators._spmm(a, False, v, weights.to(v.dtype))


def _fake_attention(a: Sizes, v: Tensor, *_arguments: Any) -> Tensor:
    return v.new_empty((a.rows, *v.shape[1:]))


class _DroppedAttention(torch.autograd.Function):
    @staticmethod
    def forward(
        a: Ref,
        v: Tensor,
        q: Tensor,
        k: Tensor,
        bias: Tensor | None,
        seed: Tensor,
        p: float,
        scale: float,
        slope: float,
    ) -> Tensor:
        return dropped_attention.below(a, v, q, k, bias, seed, p, scale, slope)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.a, *tensors, p, scale, slope = inputs
        ctx.settings = p, scale, slope
        ctx.save_for_backward(*tensors)

    @staticmethod
    def backward(ctx: Any, dout: Tensor) -> Any:
        wanted = ctx.needs_input_grad[1:5]
        gradients = dropped_attention_gradient.again(ctx.a, *ctx.saved_tensors, dout, *ctx.settings, wanted[3])
        named = [g if want else None for g, want in zip(gradients, wanted, strict=True)]
        return None, *named, None, None, None, None

    jvp = vmap = only_reverse("dropped_attention", "attention")


dropped_attention = Operator(
    "dropped_attention(a, Tensor v, Tensor q, Tensor k, Tensor? bias, Tensor seed, float p, float scale, float slope)"
    " -> Tensor",
    _attention,
    _fake_attention,
    _DroppedAttention,
)


def _attention_gradient(
    a: Entries,
    v: Tensor,
    q: Tensor,
    k: Tensor,
    bias: Tensor | None,
    seed: Tensor,
    dout: Tensor,
    p: float,
    scale: float,
    slope: float,
    of_bias: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    every, bias, source = _sorted(a, bias)
    dots, weights = _weights(every, q, k, bias, scale, slope)
    mask = factors(seed, a.given, weights.shape[0], p, weights.dtype, source)
    dv = operators._spmm(every, True, dout, (weights * mask).to(v.dtype))
    dscores = operators._softmax_gradient(every, weights, mask.mul_(operators._sddmm(every, dout, v)))
    dbias = operators.every_of(a).order.from_csr(dscores, 1) if of_bias else dscores.new_empty(0)
    ddots = dscores * scale
    if slope != 1:
        ddots = torch.where(dots > 0, ddots, ddots * slope)
    return dv, operators._spmm(every, False, k, ddots), operators._spmm(every, True, q, ddots), dbias


def _fake_attention_gradient(
    a: Sizes, v: Tensor, q: Tensor, k: Tensor, _bias: Any, _seed: Any, _dout: Any, *settings: Any
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    dbias = q.new_empty((q.shape[1], a.given) if settings[-1] else (0,))
    return v.new_empty(v.shape), q.new_empty(q.shape), k.new_empty(k.shape), dbias


dropped_attention_gradient = Operator(
    "dropped_attention_gradient(a, Tensor v, Tensor q, Tensor k, Tensor? bias, Tensor seed, Tensor dout, float p,"
    " float scale, float slope, bool of_bias) -> (Tensor, Tensor, Tensor, Tensor)",
    _attention_gradient,
    _fake_attention_gradient,
    once_differentiable("dropped_attention", "use sddmm, softmax and spmm instead"),
)
