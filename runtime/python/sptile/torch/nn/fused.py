"""Fusion of aggregation and update in layers (HyGNN, section 6.1)."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch._C._functorch import is_legacy_batchedtensor
from torch.nn.modules.module import _has_any_global_hook

from .. import operators
from ..functions import fused_update_pays
from ..handle import Handle, kernel_for
from ..matrix import SparseMatrix, cast
from ..pattern import pattern_of_entries


class Update(NamedTuple):
    """The start of a module that `spmm_update` replaces, and the modules that follow."""

    linear: nn.Linear
    relu: bool
    rest: list[nn.Module]


def is_plain(module: nn.Module, kind: type[nn.Module]) -> bool:
    """Returns whether the module is exactly of a class and has no hooks, which a fused kernel would not call."""
    hooks = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")
    return type(module) is kind and not _has_any_global_hook() and not any(getattr(module, name) for name in hooks)


def first_update(module: Any) -> Update | None:
    """Returns the linear layer with which a module starts, and the ReLU that follows it; None if it starts with
    another module."""
    if not isinstance(module, nn.Module):
        return None
    steps: list[Any] = list(module.children()) if is_plain(module, nn.Sequential) else [module]
    if not steps or not is_plain(steps[0], nn.Linear):
        return None
    relu = len(steps) > 1 and is_plain(steps[1], nn.ReLU)
    return Update(steps[0], relu, steps[2 if relu else 1 :])


def may_fuse(x: Tensor) -> bool:
    """Returns whether a layer may call fused operators: compilers, transforms and batches use the steps."""
    return not torch.compiler.is_compiling() and x.dim() == 2 and not operators.transformed()


def with_diagonal(a: SparseMatrix, value: float, dtype: torch.dtype) -> SparseMatrix:
    """Returns A + value * I for a square pattern A, with the format and the kernels of A. Cached."""

    def make() -> SparseMatrix:
        row, col = a.places()
        nodes = torch.arange(a.shape[0], device=a.device)
        pattern, order = pattern_of_entries(torch.cat([row, nodes]), torch.cat([col, nodes]), *a.shape)
        values = torch.ones(order.given, dtype=dtype, device=a.device)
        values[row.numel() :] = value
        return SparseMatrix._of(Handle(pattern, None, a._bare.format, a._bare.kernels), order, values)

    return a._derive(f"diagonal {value} {dtype}", make)


def takes_little(a: SparseMatrix, columns: int, size: int) -> bool:
    """Returns whether rows of that many columns take at most 4 bytes per nonzero of A, or the 4 bytes and the value per
    nonzero of a transpose that a symmetric A does not store. A layer that keeps such rows takes no more memory than one
    with two CSR matrices of int64 columns."""
    return a.shape[0] * columns * size <= a.nnz * (4 + size if a._handle.is_known_symmetric else 4)


def names_update(a: SparseMatrix) -> bool:
    """Returns whether A names a kernel of `spmm_update`."""
    return kernel_for("spmm_update", a._handle.kernels) is not None


class _AggregateUpdated(torch.autograd.Function):
    """A (x W^T), whose gradient of x, (A^T G) W, is one fused product. It also returns A^T G, from which the gradient of
    W follows."""

    @staticmethod
    def forward(ctx: Any, a: SparseMatrix, x: Tensor, weight: Tensor) -> Tensor:
        ctx.a = a._product
        ctx.save_for_backward(x, weight)
        return operators.spmm(ctx.a, False, nn.functional.linear(x, weight), None)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        x, weight = ctx.saved_tensors
        if torch.is_grad_enabled() or is_legacy_batchedtensor(g):  # the fused product has no second derivative
            dy = operators.spmm.again(ctx.a, True, g, None)
            dx = dy @ weight
        else:
            dx, dy = operators.spmm_update.again(ctx.a, True, g, weight, None, False, False, True)
        return None, dx, dy.t() @ x if ctx.needs_input_grad[2] else None


def aggregate_updated(a: SparseMatrix, x: Tensor, linear: nn.Linear) -> Tensor | None:
    """Returns A (x W^T) with a fused backward pass. None if x needs no gradient, if the library predicts that the two
    products take less time, or if A^T G, which exists together with both gradients of x then, takes too much memory."""
    if (
        not x.requires_grad
        or not torch.is_grad_enabled()
        or not may_fuse(x)
        or torch.is_autocast_enabled(x.device.type)
        or x.dtype != linear.weight.dtype
        or not is_plain(linear, type(linear))
        or (not names_update(a) and not takes_little(a, linear.out_features, x.element_size()))
        or not fused_update_pays(a, linear.out_features, linear.in_features, x.dtype, backward=True)
    ):
        return None
    a._check_type(x)
    out: Tensor = _AggregateUpdated.apply(a, x, linear.weight)  # type: ignore[no-untyped-call]
    return out


class _ProductUpdated(torch.autograd.Function):
    """(A x) W^T + bias, whose backward pass computes A x again."""

    @staticmethod
    def forward(ctx: Any, a: SparseMatrix, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.a = a._product
        ctx.save_for_backward(x, weight)
        return nn.functional.linear(operators.spmm(ctx.a, False, x, None), weight, bias)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        x, weight = ctx.saved_tensors
        dx = operators.spmm.again(ctx.a, True, g @ weight, None) if ctx.needs_input_grad[1] else None
        dw = None
        if ctx.needs_input_grad[2]:
            z = operators.spmm.again(ctx.a, False, x, None)
            dw = g.t() @ z
        return None, dx, dw, g.sum(0) if ctx.needs_input_grad[3] else None


def recomputes_product(a: SparseMatrix, x: Tensor, weight: Tensor) -> bool:
    """Returns whether the backward pass of (A x) W^T computes A x again: if A x takes much memory. A kernel of
    `spmm_update` that A names keeps it."""
    if (
        not torch.is_grad_enabled()
        or not weight.requires_grad
        or not may_fuse(x)
        or a._learned is not None
        or names_update(a)
    ):
        return False
    return not takes_little(a, x.shape[1], x.element_size())


def product_updated(a: SparseMatrix, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Returns (A x) W^T + bias for operands of `recomputes_product`."""
    kind = x.device.type
    if torch.is_autocast_enabled(kind):
        x, weight, bias = cast(a, x), cast(a, weight), cast(a, bias)  # type: ignore[assignment]
    else:
        a._check_type(x)
    with torch.autocast(kind, enabled=False):
        out: Tensor = _ProductUpdated.apply(a, x, weight, bias)  # type: ignore[no-untyped-call]
    return out
