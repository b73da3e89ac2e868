"""The operators sptile::*, which compilers see: dense tensors, and matrices by their numbers.

    spmm(a, t, b, values)         A b, of A^T where t: b [cols, n] or, with values of heads, [cols, heads, n]
    sddmm(a, x, y)                x_i . y_j of each entry: [nnz], of operands with heads [heads, nnz]
    softmax(a, s)                 softmax over the entries of each row: [nnz] or [heads, nnz]
    attention(a, q, k, v, ...)    see attention.py
    spmm_update(a, t, b, w, ...)  act((A b) w + bias), and A b

Numbers of entries are in the order of CSR. Gradients of spmm and sddmm are one another, so that they have
derivatives of any order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch._C import (
    _are_functorch_transforms_active,
    _AutoDispatchBelowAutograd,
    _len_torch_dispatch_stack,
)
from torch._C._autograd import _profiler_enabled

from .. import _library as c
from ..errors import UnsupportedError, UsageError
from .handle import DTYPES, Handle, Request, handle_of, precision_of

library: Any = torch.library.Library("sptile", "FRAGMENT")


def watched() -> bool:
    """True where something wants to see operators: a compiler, a mode, a transform, a profiler. Else what
    they do is called directly, which saves more time than a small product takes."""
    return (
        torch.compiler.is_compiling()
        or _len_torch_dispatch_stack() > 0
        or _are_functorch_transforms_active()
        or _profiler_enabled()
    )


def needs_gradient(*tensors: Tensor | None) -> bool:
    return torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in tensors)


class Operator:
    """One operator: what it computes, what that looks like, its gradient."""

    def __init__(self, schema: str, run: Callable[..., Any], fake: Callable[..., Any], function: Any) -> None:
        name = schema.split("(")[0]
        library.define(schema, tags=(torch.Tag.pt2_compliant_tag,))
        self.op = getattr(torch.ops.sptile, name).default
        self.run, self.function = run, function
        for key in ("CPU", "CUDA"):
            library.impl(name, run, key)
        library.impl(name, self._differentiable, "Autograd")
        torch.library.register_fake(f"sptile::{name}", fake, lib=library)
        function.operator = self

    def __call__(self, *arguments: Any) -> Any:
        if watched():
            return self.op(*arguments)
        if needs_gradient(*(x for x in arguments if isinstance(x, Tensor))):
            return self.function.apply(*arguments)
        return self.run(*arguments)

    def _differentiable(self, *arguments: Any) -> Any:
        if needs_gradient(*(x for x in arguments if isinstance(x, Tensor))):
            return self.function.apply(*arguments)
        return self.below(*arguments)

    def below(self, *arguments: Any) -> Any:
        """The result without its history."""
        if watched():
            with _AutoDispatchBelowAutograd():
                return self.op(*arguments)
        return self.run(*arguments)


def rows_in_memory(x: Tensor) -> Tensor:
    """x, copied unless its last dimension is dense and its other ones do not overlap."""
    if x.is_neg():
        x = x.resolve_neg()
    sizes, strides = x.shape, x.stride()
    if sizes[-1] != 1 and strides[-1] != 1:
        return x.contiguous()
    if x.dim() == 2:
        return x if strides[0] >= sizes[1] else x.clone(memory_format=torch.contiguous_format)
    beside = strides[1] >= sizes[2] or sizes[1] == 1
    return x if beside and strides[0] >= sizes[2] else x.clone(memory_format=torch.contiguous_format)


def operand(x: Tensor) -> tuple[int, int, int]:
    """Address and strides of x [rows, n] or [rows, heads, n]."""
    strides = x.stride()
    return (x.data_ptr(), strides[0], 0) if len(strides) == 2 else (x.data_ptr(), strides[0], strides[1])


def number_list(x: Tensor) -> tuple[int, int, int]:
    """Address of [nnz] or [heads, nnz], contiguous."""
    return x.data_ptr(), 0, 0


def check_rows(
    name: str, x: Tensor, rows: int, what: str, handle: Handle, dims: tuple[int, ...] = (2, 3)
) -> None:
    """Refuses x unless it is [rows, n] or [rows, heads, n] of a type that there is, where the matrix is."""
    if x.dtype not in DTYPES:
        raise UsageError(f"{name} is {x.dtype}; use float32, float64, float16 or bfloat16")
    if x.device != handle.pattern.device:
        raise UsageError(f"{name} is on {x.device}, the matrix on {handle.pattern.device}; move one of them")
    if x.layout != torch.strided or x.dim() not in dims or x.shape[0] != rows:
        kind = "" if x.layout == torch.strided else f"{x.layout} "
        wanted = " or ".join({1: f"[{rows}]", 2: f"[{rows}, n]", 3: f"[{rows}, heads, n]"}[d] for d in dims)
        raise UsageError(f"{name} is {kind}{list(x.shape)}; the matrix has {rows} {what}, so pass {wanted}")


def check_alike(first: tuple[str, Tensor], *others: tuple[str, Tensor | None]) -> None:
    """Refuses tensors of several types or devices."""
    for name, x in others:
        if x is not None and (x.dtype != first[1].dtype or x.device != first[1].device):
            raise UsageError(
                f"{name} is {x.dtype} on {x.device}, {first[0]} is {first[1].dtype} on "
                f"{first[1].device}; nothing is converted, make them alike"
            )


def check_list(name: str, values: Tensor, nnz: int, heads: int | None) -> None:
    wanted = [nnz] if heads is None else [heads, nnz]
    if list(values.shape) != wanted:
        raise UsageError(f"{name} is {list(values.shape)}, pass {wanted}: one number for each entry")


def sizes(handle: Handle, t: bool) -> tuple[int, int]:
    """Rows and columns of A, or of A^T."""
    pattern = handle.pattern
    return (pattern.cols, pattern.rows) if t else (pattern.rows, pattern.cols)


# ---- spmm ----


def _check_spmm(handle: Handle, t: bool, b: Tensor, values: Tensor | None) -> int:
    """Refuses operands that do not fit; gives the rows of the result."""
    rows, cols = sizes(handle, t)
    check_rows("x", b, cols, "rows" if t else "columns", handle)
    if values is not None:
        check_alike(("x", b), ("values", values))
        check_list("values", values, handle.pattern.nnz, None if b.dim() == 2 else b.shape[1])
    elif b.dim() == 3:
        raise UsageError("x with heads, but no values that have them")
    return rows


def _spmm(a: int, t: bool, b: Tensor, values: Tensor | None) -> Tensor:
    handle = handle_of(a)
    rows = _check_spmm(handle, t, b, values)
    shape = b.shape
    out = b.new_empty((rows, *shape[1:]))
    if out.numel() == 0:
        return out
    b = rows_in_memory(b)
    if t:
        if values is not None:
            values = values.index_select(-1, handle.source())
        handle = handle.transposed()
    precision = precision_of(b)
    if values is None:
        plan = handle.plan(Request("spmm", shape[1], b.dtype, precision))
        plan.run((operand(b), operand(out)))
        return out
    values = values.contiguous()
    heads = 1 if len(shape) == 2 else shape[1]
    plan = handle.plan(Request("spmm", shape[-1], b.dtype, precision, True, heads=heads))
    plan.run((operand(b), operand(out)), values.data_ptr(), handle.pattern.nnz)
    return out


def _fake_spmm(a: int, t: bool, b: Tensor, values: Tensor | None) -> Tensor:
    rows = _check_spmm(handle_of(a), t, b, values)
    return b.new_empty((rows, *b.shape[1:]))


class _Spmm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: int, t: bool, b: Tensor, values: Tensor | None) -> Tensor:
        ctx.a, ctx.t, ctx.handle = a, t, handle_of(a)
        gradient_of_values = values is not None and ctx.needs_input_grad[3]
        ctx.save_for_backward(b if gradient_of_values else None, values)
        return spmm.below(a, t, b, values)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        b, values = ctx.saved_tensors
        db = spmm(ctx.a, not ctx.t, g, values) if ctx.needs_input_grad[2] else None
        dvalues = None
        if ctx.needs_input_grad[3]:
            dvalues = sddmm(ctx.a, b, g) if ctx.t else sddmm(ctx.a, g, b)
        return None, None, db, dvalues


spmm = Operator("spmm(int a, bool t, Tensor b, Tensor? values) -> Tensor", _spmm, _fake_spmm, _Spmm)


def _add_spmm(a: int, t: bool, b: Tensor, out: Tensor) -> None:
    handle = handle_of(a)
    rows = _check_spmm(handle, t, b, None)
    check_alike(("x", b), ("the result", out))
    assert list(out.shape) == [rows, b.shape[1]] and out.is_contiguous()
    if t:
        handle = handle.transposed()
    if out.numel() == 0 or handle.pattern.nnz == 0:
        return
    b = rows_in_memory(b)
    handle.plan(Request("spmm", b.shape[1], b.dtype, precision_of(b))).run(
        (operand(b), operand(out)), beta=1.0
    )


library.define("add_spmm(int a, bool t, Tensor b, Tensor(a!) out) -> ()")
for _key in ("CPU", "CUDA"):
    library.impl("add_spmm", _add_spmm, _key)


def add_spmm(a: int, t: bool, b: Tensor, out: Tensor) -> None:
    """out += A b, of A^T where t, in place and without history: b [cols, n], out [rows, n] contiguous."""
    if watched():
        with _AutoDispatchBelowAutograd():
            torch.ops.sptile.add_spmm(a, t, b, out)
    else:
        _add_spmm(a, t, b, out)


# ---- sddmm ----


def _check_sddmm(handle: Handle, x: Tensor, y: Tensor) -> list[int]:
    pattern = handle.pattern
    check_rows("x", x, pattern.rows, "rows", handle)
    check_rows("y", y, pattern.cols, "columns", handle)
    check_alike(("x", x), ("y", y))
    if x.shape[1:] != y.shape[1:]:
        raise UsageError(f"x is {list(x.shape)}, y {list(y.shape)}; their rows are of one shape")
    return [pattern.nnz] if x.dim() == 2 else [x.shape[1], pattern.nnz]


def _sddmm(a: int, x: Tensor, y: Tensor) -> Tensor:
    handle = handle_of(a)
    shape = _check_sddmm(handle, x, y)
    if x.shape[-1] == 0:
        return x.new_zeros(shape)
    out = x.new_empty(shape)
    if out.numel() == 0:
        return out
    x, y = rows_in_memory(x), rows_in_memory(y)
    heads = 1 if len(shape) == 1 else shape[0]
    plan = handle.plan(Request("sddmm", x.shape[-1], x.dtype, precision_of(x), heads=heads))
    plan.run((operand(x), operand(y), number_list(out)))
    return out


def _fake_sddmm(a: int, x: Tensor, y: Tensor) -> Tensor:
    return x.new_empty(_check_sddmm(handle_of(a), x, y))


class _Sddmm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: int, x: Tensor, y: Tensor) -> Tensor:
        ctx.a, ctx.handle = a, handle_of(a)
        ctx.save_for_backward(x, y)
        return sddmm.below(a, x, y)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        x, y = ctx.saved_tensors
        dx = spmm(ctx.a, False, y, g) if ctx.needs_input_grad[1] else None
        dy = spmm(ctx.a, True, x, g) if ctx.needs_input_grad[2] else None
        return None, dx, dy


sddmm = Operator("sddmm(int a, Tensor x, Tensor y) -> Tensor", _sddmm, _fake_sddmm, _Sddmm)


# ---- softmax ----


def _check_softmax(handle: Handle, s: Tensor) -> None:
    if s.dtype not in DTYPES:
        raise UsageError(f"values are {s.dtype}; use float32, float64, float16 or bfloat16")
    if s.device != handle.pattern.device:
        raise UsageError(f"values are on {s.device}, the matrix on {handle.pattern.device}; move one of them")
    check_list("values", s, handle.pattern.nnz, None if s.dim() == 1 else s.shape[0])


def _softmax(a: int, s: Tensor) -> Tensor:
    handle = handle_of(a)
    _check_softmax(handle, s)
    out = torch.empty(s.shape, dtype=s.dtype, device=s.device)
    if out.numel() == 0:
        return out
    s = s.contiguous()
    plan = handle.plan(Request("softmax_rows", 1, s.dtype, heads=1 if s.dim() == 1 else s.shape[0]))
    plan.run((number_list(s), number_list(out)))
    return out


def _fake_softmax(a: int, s: Tensor) -> Tensor:
    _check_softmax(handle_of(a), s)
    return s.new_empty(s.shape)


class _Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: int, s: Tensor) -> Tensor:
        ctx.a, ctx.handle = a, handle_of(a)
        p = softmax.below(a, s)
        ctx.save_for_backward(p)
        return p

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        (p,) = ctx.saved_tensors
        return None, softmax_gradient(ctx.a, p, g)


softmax = Operator("softmax(int a, Tensor s) -> Tensor", _softmax, _fake_softmax, _Softmax)


def once_differentiable(name: str, instead: str) -> type[torch.autograd.Function]:
    """The history of a gradient that has none itself."""

    class Gradient(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *arguments: Any) -> Any:
            return Gradient.operator.below(*arguments)  # type: ignore[attr-defined]

        @staticmethod
        def backward(ctx: Any, *gradients: Tensor) -> Any:
            raise UnsupportedError(f"{name} has no second derivative; {instead}")

    return Gradient


def _softmax_gradient(a: int, p: Tensor, dp: Tensor) -> Tensor:
    handle = handle_of(a)
    _check_softmax(handle, p)
    _check_softmax(handle, dp)
    out = torch.empty(p.shape, dtype=p.dtype, device=p.device)
    if out.numel() == 0:
        return out
    p, dp = p.contiguous(), dp.contiguous()
    request = Request("softmax_rows_gradient", 1, p.dtype, heads=1 if p.dim() == 1 else p.shape[0])
    handle.plan(request).run((number_list(p), number_list(dp), number_list(out)))
    return out


def _fake_softmax_gradient(a: int, p: Tensor, dp: Tensor) -> Tensor:
    return p.new_empty(p.shape)


softmax_gradient = Operator(
    "softmax_gradient(int a, Tensor p, Tensor dp) -> Tensor",
    _softmax_gradient,
    _fake_softmax_gradient,
    once_differentiable("softmax", "write it with sums of the rows, by spmm with ones"),
)


# ---- spmm_update ----


def _check_update(
    handle: Handle, t: bool, b: Tensor, w: Tensor, bias: Tensor | None, transposed_weights: bool
) -> tuple[int, int]:
    rows, cols = sizes(handle, t)
    check_rows("x", b, cols, "rows" if t else "columns", handle, (2,))
    check_alike(("x", b), ("weight", w), ("bias", bias))
    n = b.shape[1]
    if w.dim() != 2 or w.shape[1 if transposed_weights else 0] != n:
        raise UsageError(
            f"weight is {list(w.shape)}; x has {n} columns, so pass "
            + (f"[m, {n}]" if transposed_weights else f"[{n}, m]")
        )
    m = w.shape[0 if transposed_weights else 1]
    if bias is not None and list(bias.shape) != [m]:
        raise UsageError(f"bias is {list(bias.shape)}; pass [{m}]")
    if n == 0 or m == 0:
        raise UsageError(f"weight is {list(w.shape)}; its sizes are at least 1")
    return rows, m


def update_request(n: int, m: int, like: Tensor, relu: bool, transposed_weights: bool) -> Request:
    return Request(
        "spmm_update",
        n,
        like.dtype,
        precision_of(like),
        m=m,
        activation=c.RELU if relu else c.ACTIVATION_NONE,
        transposed_weights=transposed_weights,
    )


def _spmm_update(
    a: int,
    t: bool,
    b: Tensor,
    w: Tensor,
    bias: Tensor | None,
    relu: bool,
    transposed_weights: bool,
    keep: bool,
) -> tuple[Tensor, Tensor]:
    handle = handle_of(a)
    out, z = _fake_spmm_update(a, t, b, w, bias, relu, transposed_weights, keep)
    rows, m = out.shape
    if rows == 0:
        return out, z
    b, w = rows_in_memory(b), rows_in_memory(w)
    if t:
        handle = handle.transposed()
    plan = handle.plan(update_request(b.shape[1], m, b, relu, transposed_weights))
    bias = None if bias is None else bias.contiguous()
    plan.run(
        (
            operand(b),
            operand(w),
            None if bias is None else number_list(bias),
            operand(z) if keep else None,
            operand(out),
        )
    )
    return out, z


def _fake_spmm_update(
    a: int,
    t: bool,
    b: Tensor,
    w: Tensor,
    bias: Tensor | None,
    relu: bool,
    transposed_weights: bool,
    keep: bool,
) -> tuple[Tensor, Tensor]:
    rows, m = _check_update(handle_of(a), t, b, w, bias, transposed_weights)
    return b.new_empty((rows, m)), b.new_empty((rows if keep else 0, b.shape[1]))


class _SpmmUpdate(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        a: int,
        t: bool,
        b: Tensor,
        w: Tensor,
        bias: Tensor | None,
        relu: bool,
        transposed_weights: bool,
        keep: bool,
    ) -> tuple[Tensor, Tensor]:
        ctx.a, ctx.t, ctx.handle = a, t, handle_of(a)
        ctx.relu, ctx.transposed_weights = relu, transposed_weights
        wanted = ctx.needs_input_grad[3] or ctx.needs_input_grad[4]
        out, z = spmm_update.below(a, t, b, w, bias, relu, transposed_weights, keep or wanted)
        ctx.save_for_backward(w, z if wanted else None, out if relu else None)
        ctx.mark_non_differentiable(z)
        return out, z

    @staticmethod
    def backward(ctx: Any, dc: Tensor, _dz: Tensor) -> Any:
        w, z, out = ctx.saved_tensors
        g, db, dw, dbias = dc, None, None, None
        if z is not None:
            through, dbias, dw = update_gradient(ctx.a, ctx.t, z, dc, out, ctx.relu)
            g = through if ctx.relu else dc
            dw = dw.t() if ctx.transposed_weights else dw
        elif ctx.relu:
            g = torch.where(out > 0, dc, 0)
        if ctx.needs_input_grad[2]:
            db, _ = spmm_update(ctx.a, not ctx.t, g, w, None, False, not ctx.transposed_weights, False)
        wanted = ctx.needs_input_grad
        return None, None, db, dw if wanted[3] else None, dbias if wanted[4] else None, None, None, None


spmm_update = Operator(
    "spmm_update(int a, bool t, Tensor b, Tensor w, Tensor? bias, bool relu, bool transposed_weights,"
    " bool keep) -> (Tensor, Tensor)",
    _spmm_update,
    _fake_spmm_update,
    _SpmmUpdate,
)


def _update_gradient(
    a: int, t: bool, z: Tensor, dc: Tensor, out: Tensor | None, relu: bool
) -> tuple[Tensor, Tensor, Tensor]:
    handle = handle_of(a)
    g, dbias, dw = _fake_update_gradient(a, t, z, dc, out, relu)
    n, m = dw.shape
    if z.shape[0] == 0:
        return g, dbias.zero_(), dw.zero_()
    z, dc = rows_in_memory(z), rows_in_memory(dc)
    request = Request(
        "update_gradient", n, z.dtype, precision_of(z), m=m, activation=c.RELU if relu else c.ACTIVATION_NONE
    )
    plan = (handle.transposed() if t else handle).plan(request)
    plan.run(
        (
            operand(z),
            operand(dc),
            operand(out) if out is not None else None,
            operand(g) if relu else None,
            number_list(dbias),
            operand(dw),
        )
    )
    return g, dbias, dw


def _fake_update_gradient(
    a: int, t: bool, z: Tensor, dc: Tensor, out: Tensor | None, relu: bool
) -> tuple[Tensor, Tensor, Tensor]:
    m = dc.shape[1]
    g = dc.new_empty(dc.shape) if relu else dc.new_empty((0, m))
    return g, dc.new_empty((m,)), dc.new_empty((z.shape[1], m))


update_gradient = Operator(
    "update_gradient(int a, bool t, Tensor z, Tensor dc, Tensor? out, bool relu) -> (Tensor, Tensor, Tensor)",
    _update_gradient,
    _fake_update_gradient,
    once_differentiable("spmm_update", "write it as spmm and a product"),
)
