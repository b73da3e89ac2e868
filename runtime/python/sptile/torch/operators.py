"""The operators sptile::*, which compilers see: dense tensors, and matrices by token and sizes (`handle.Ref`).

    spmm(a, t, b, values)         A b, of A^T where t: b [cols, n] or, with values of heads, [cols, heads, n]
    spmm_batch(a, t, b)           A b of each matrix of b [batch, cols, n]
    sddmm(a, x, y)                x_i . y_j of each entry: [given], of operands with heads [heads, given]
    softmax(a, s)                 softmax over the entries of each row: [given] or [heads, given]
    attention(a, q, k, v, ...)    see attention.py
    spmm_update(a, t, b, w, ...)  act((A b) w + bias), and A b
    spmm_max(a, b, values, least) maxima, or minima where least, of the products of each row

Shapes and types of all tensors are in `operands.OPERANDS`, by which each call is checked.

Numbers of entries are in the order in which entries were given. Gradients of spmm and sddmm are one another, so that
they have derivatives of any order. spmm, sddmm and softmax have forward-mode derivatives and rules for vmap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch._C import (
    _are_functorch_transforms_active,
    _AutoDispatchBelowAutograd,
    _get_tracing_state,
    _len_torch_dispatch_stack,
)
from torch._C._autograd import _profiler_enabled
from torch._C._functorch import is_legacy_batchedtensor
from torch.autograd import forward_ad

from ..errors import UnsupportedError, UsageError
from .handle import (
    Entries,
    Handle,
    PackedProduct,
    Ref,
    TorchPlan,
    capturing,
    entries_of_sizes,
    packed_address,
    packed_key,
    precision_of,
)
from .operands import (
    Check,
    Sizes,
    checked,
    list_in_memory,
    number_list,
    operand,
    rows_in_memory,
    statistic,
)
from .pattern import EntryOrder, Pattern, apart, inverse, pattern_of_entries, untraced

library: Any = torch.library.Library("sptile", "FRAGMENT")

# The leading arguments of each operator.
REF = "Tensor a, SymInt rows, SymInt cols, SymInt given"
# cudagraph_unsafe, if torch has the tag: a recorded CUDA graph would keep an address that the operator reads.
TAGS = tuple(
    getattr(torch.Tag, name) for name in ("pt2_compliant_tag", "cudagraph_unsafe") if hasattr(torch.Tag, name)
)


_is_compiling = torch.compiler.is_compiling  # global variables are found faster than attributes


def watched() -> bool:
    """Returns whether a compiler, mode, transform or profiler must see operators. Otherwise their functions are
    called directly, which saves more time than a small product takes."""
    return (
        _is_compiling()
        or _len_torch_dispatch_stack() > 0
        or _are_functorch_transforms_active()
        or _profiler_enabled()
        or _get_tracing_state() is not None
    )


def transformed() -> bool:
    """Returns whether a transform of torch.func or forward mode is active. These differentiate the steps of an
    operator."""
    if torch.compiler.is_compiling():
        return False
    return _are_functorch_transforms_active() or forward_ad._current_level >= 0


def followed(x: Tensor) -> bool:
    """True if a derivative, a transform or a compiler may ask how results follow from x."""
    return x.requires_grad or torch.compiler.is_compiling() or transformed()


def unchanged(kept: Tensor, now: Tensor) -> bool:
    """True if a tensor of ids equals the copy that was kept of it: versions and addresses miss changes
    through `.data` and through memory that NumPy shares. O(ids), on a CUDA device with a synchronization;
    while a graph is captured, ids are taken to be unchanged."""
    if kept.shape != now.shape or kept.dtype != now.dtype or kept.device != now.device:
        return False
    if kept.device.type != "cpu" or type(now) is not Tensor or transformed():
        with apart():
            return capturing() or torch.equal(kept, now)
    return np.array_equal(kept.numpy(), now.numpy())


def _recorded(arguments: tuple[Any, ...]) -> bool:
    """Returns whether autograd records operations on these tensors."""
    if forward_ad._current_level >= 0:
        return True
    if torch.is_grad_enabled():
        for x in arguments:
            if isinstance(x, Tensor) and x.requires_grad:
                return True
    return False


def _of_one_step(function: Any) -> Any:
    """A function whose forward sets the context: torch calls it in half the time, but transforms of torch.func do
    not support it."""

    def forward(ctx: Any, *arguments: Any) -> Any:
        output = function.forward(*arguments)
        function.setup_context(ctx, arguments, output)
        return output

    parts = {"forward": forward, "backward": function.backward, "jvp": function.jvp}
    members = {name: staticmethod(part) for name, part in parts.items()}
    return type(function.__name__, (torch.autograd.Function,), members)


class Kernel:
    """One operator without derivatives: its implementation on `Entries`, and the shapes of its results. Both receive
    tensors that match the row of `operands.OPERANDS`. It is called with a `Ref`."""

    def __init__(self, schema: str, run: Callable[..., Any], fake: Callable[..., Any]) -> None:
        self.name = name = schema.split("(")[0]
        library.define(schema.replace("(a", f"({REF}", 1), tags=TAGS)
        self.op = getattr(torch.ops.sptile, name).default
        self.check = Check(name, self.op._schema, len(Ref.FIELDS))
        self.run = checked_run = checked(untraced(run), self.check)
        fake_run = checked(fake, self.check)

        def found(token: Tensor, rows: int, cols: int, given: int, *arguments: Any) -> Any:
            return checked_run(entries_of_sizes(token, rows, cols, given), *arguments)

        def seen(token: Tensor, rows: int, cols: int, given: int, *arguments: Any) -> Any:
            return fake_run(Ref(token, rows, cols, given), *arguments)

        for one in (self.run, found):
            untraced(one)
        for key in ("CPU", "CUDA"):
            library.impl(name, found, key)
        torch.library.register_fake(f"sptile::{name}", seen, lib=library)

    def below(self, a: Ref, *arguments: Any) -> Any:
        """The result without its history."""
        if watched():
            with _AutoDispatchBelowAutograd():
                return self.op(*a, *arguments)
        return self.run(a.entries, *arguments)


class Operator(Kernel):
    """One operator with its gradient."""

    def __init__(self, schema: str, run: Callable[..., Any], fake: Callable[..., Any], function: Any) -> None:
        super().__init__(schema, run, fake)
        self.function, self._quick = function, _of_one_step(function)
        library.impl(self.name, self._differentiable, "Autograd")
        function.operator = self

    def __call__(self, a: Ref, *arguments: Any) -> Any:
        if watched():
            if torch.compiler.is_compiling():
                return self.op(a.token, a.rows, a.cols, a.given, *arguments)
            return self._watched(a, arguments)
        if _recorded(arguments):
            return self._quick.apply(a, *arguments)
        return self.run(a.entries, *arguments)

    def again(self, a: Ref, *arguments: Any) -> Any:
        """Calls an operator in a derivative, whose operands may be batched by
        torch.autograd.grad(is_grads_batched=True); batches are processed one by one."""
        if any(isinstance(x, Tensor) and is_legacy_batchedtensor(x) for x in arguments):
            return self.op(*a, *arguments)
        return self(a, *arguments)

    def _watched(self, a: Ref, arguments: tuple[Any, ...]) -> Any:
        if _get_tracing_state() is not None:
            raise UnsupportedError(
                "sptile does not support torch.jit.trace; use torch.compile or torch.export.export"
            )
        if _are_functorch_transforms_active():
            return self.function.apply(a, *arguments)
        return self.op(*a, *arguments)

    def _differentiable(self, token: Tensor, rows: int, cols: int, given: int, *arguments: Any) -> Any:
        a = Ref(token, rows, cols, given)
        if _are_functorch_transforms_active():
            return self.function.apply(a, *arguments)
        if _recorded(arguments):
            return self._quick.apply(a, *arguments)
        return self.below(a, *arguments)


def sizes(a: Sizes, t: bool) -> tuple[int, int]:
    """Rows and columns of A, or of A^T."""
    return (a.cols, a.rows) if t else (a.rows, a.cols)


def added(*terms: Tensor | None) -> Tensor | None:
    """Returns the sum of the tensors that are not None."""
    there = [x for x in terms if x is not None]
    return sum(there[1:], start=there[0]) if there else None


def batch_first(x: Tensor, dim: int | None, size: int) -> Tensor:
    """Moves the vmap dimension of x to the front; repeats x if it has none."""
    return x.expand(size, *x.shape) if dim is None else x.movedim(dim, 0)


# ---- spmm ----


def _spmm(a: Entries, t: bool, b: Tensor, values: Tensor | None) -> Tensor:
    shape = b.shape
    out = b.new_empty((sizes(a, t)[0], *shape[1:]))
    if out.numel() == 0:
        return out
    b = rows_in_memory(b)
    handle = a.handle
    if values is not None:
        values = a.order.to_csr(values, -1)
    if t:
        if values is not None:
            values = values.index_select(-1, handle.source())
        handle = handle.transposed()
    precision = precision_of(b)
    if values is None:
        plan = handle.plan("spmm", shape[1], b.dtype, precision)
        plan.run((operand(b), operand(out)))
        return out
    values = list_in_memory(values)
    heads = 1 if len(shape) == 2 else shape[1]
    plan = handle.plan("spmm", shape[-1], b.dtype, precision, True, heads=heads)
    plan.run((operand(b), operand(out)), number_list(values)[0], handle.pattern.nnz)
    return out


def _fake_spmm(a: Ref, t: bool, b: Tensor, values: Tensor | None) -> Tensor:
    return b.new_empty((sizes(a, t)[0], *b.shape[1:]))


class _Spmm(torch.autograd.Function):
    @staticmethod
    def forward(a: Ref, t: bool, b: Tensor, values: Tensor | None) -> Tensor:
        return spmm.below(a, t, b, values)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.a, ctx.t, b, values = inputs
        ctx.save_for_backward(b if values is not None and ctx.needs_input_grad[3] else None, values)
        ctx.save_for_forward(b, values)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        b, values = ctx.saved_tensors
        db = spmm.again(ctx.a, not ctx.t, g, values) if ctx.needs_input_grad[2] else None
        dvalues = None
        if ctx.needs_input_grad[3]:
            dvalues = sddmm.again(ctx.a, b, g) if ctx.t else sddmm.again(ctx.a, g, b)
        return None, None, db, dvalues

    @staticmethod
    def jvp(ctx: Any, _a: Any, _t: Any, db: Tensor | None, dvalues: Tensor | None) -> Any:
        b, values = ctx.saved_tensors
        return added(
            None if db is None else spmm.again(ctx.a, ctx.t, db, values),
            None if dvalues is None else spmm.again(ctx.a, ctx.t, b, dvalues),
        )

    @staticmethod
    def vmap(info: Any, dims: Any, a: Ref, t: bool, b: Tensor, values: Tensor | None) -> Any:
        """A batch of x is columns of one product; a batch of values is heads."""
        size = info.batch_size
        if values is None or dims[3] is None:
            wide = b.movedim(dims[2], -2)  # [cols, ..., batch, n]
            out = spmm(a, t, wide.flatten(-2), values)
            return out.unflatten(-1, (size, wide.shape[-1])), out.dim() - 1
        b, values = batch_first(b, dims[2], size), values.movedim(dims[3], 0)
        if b.dim() == 3:
            return spmm(a, t, b.transpose(0, 1), values), 1
        out = spmm(a, t, b.transpose(0, 1).flatten(1, 2), values.flatten(0, 1))
        return out.unflatten(1, (size, b.shape[2])), 1


spmm = Operator("spmm(a, bool t, Tensor b, Tensor? values) -> Tensor", _spmm, _fake_spmm, _Spmm)


# ---- spmm_batch ----

_MAX_HEADS = 65_535  # of a plan


def _spmm_batch(a: Entries, t: bool, b: Tensor) -> Tensor:
    """Operands of heads in the place of rows with heads."""
    out = _fake_spmm_batch(a, t, b)
    if out.numel() == 0:
        return out
    b = rows_in_memory(b)
    handle = a.handle.transposed() if t else a.handle
    for x, y in zip(b.split(_MAX_HEADS), out.split(_MAX_HEADS), strict=True):
        plan = handle.plan("spmm", x.shape[2], x.dtype, precision_of(x), heads=x.shape[0])
        plan.run((operand(x.transpose(0, 1)), operand(y.transpose(0, 1))))
    return out


def _fake_spmm_batch(a: Sizes, t: bool, b: Tensor) -> Tensor:
    return b.new_empty((b.shape[0], sizes(a, t)[0], b.shape[2]))


class _SpmmBatch(torch.autograd.Function):
    @staticmethod
    def forward(a: Ref, t: bool, b: Tensor) -> Tensor:
        return spmm_batch.below(a, t, b)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.a, ctx.t, _b = inputs

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        return None, None, spmm_batch.again(ctx.a, not ctx.t, g)

    @staticmethod
    def jvp(ctx: Any, _a: Any, _t: Any, db: Tensor) -> Tensor:
        return spmm_batch.again(ctx.a, ctx.t, db)

    @staticmethod
    def vmap(info: Any, dims: Any, a: Ref, t: bool, b: Tensor) -> Any:
        b = b.movedim(dims[2], 0)
        return spmm_batch(a, t, b.flatten(0, 1)).unflatten(0, b.shape[:2]), 0


spmm_batch = Operator("spmm_batch(a, bool t, Tensor b) -> Tensor", _spmm_batch, _fake_spmm_batch, _SpmmBatch)


# ---- spmm, repeated ----


class _PackedSpmm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, product: PackedProduct, x: Tensor, address: int) -> Tensor:
        ctx.product = product
        return product.run(x, address)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        product: PackedProduct = ctx.product
        back = product.back
        plain = not (torch.is_grad_enabled() or watched() or is_legacy_batchedtensor(g))
        known = plain and back is not None and back.key == packed_key(g)
        if known and (address := packed_address(g, back.index)):  # type: ignore[union-attr]
            return None, back.run(g, address), None  # type: ignore[union-attr]
        dx = spmm.again(product.a, True, g, None)
        if plain and not known:
            product.back = PackedProduct(product.a, product.a.entries.handle.transposed(), g, dx)
        return None, dx, None


# Function.apply without its search for transforms of torch.func, in which x has no address.
_apply_packed: Any = super(torch.autograd.Function, _PackedSpmm).apply


def packed_spmm(product: PackedProduct, x: Tensor, address: int) -> Tensor:
    """Returns A x for x at its `packed_address`."""
    if x.requires_grad and torch.is_grad_enabled():
        return _apply_packed(product, x, address)  # type: ignore[no-any-return]
    return product.run(x, address)


def _add_spmm(a: Entries, t: bool, b: Tensor, out: Tensor) -> None:
    handle = a.handle.transposed() if t else a.handle
    if out.numel() == 0 or handle.pattern.nnz == 0:
        return
    b = rows_in_memory(b)
    handle.plan("spmm", b.shape[1], b.dtype, precision_of(b)).run((operand(b), operand(out)), beta=1.0)


def _nothing(*_arguments: Any) -> None:
    """Fake implementation of an operator without results."""


_adding = Kernel("add_spmm(a, bool t, Tensor b, Tensor(c!) out) -> ()", _add_spmm, _nothing)


def add_spmm(a: Ref, t: bool, b: Tensor, out: Tensor) -> None:
    """out += A b, of A^T where t, in place and without history: b [cols, n], out [rows, n] contiguous."""
    _adding.below(a, t, b, out)


# ---- sddmm ----


def _shape_of_sddmm(a: Sizes, x: Tensor) -> list[int]:
    return [a.given] if x.dim() == 2 else [x.shape[1], a.given]


def _sddmm(a: Entries, x: Tensor, y: Tensor) -> Tensor:
    shape = _shape_of_sddmm(a, x)
    if x.shape[-1] == 0:
        return x.new_zeros(shape)
    out = x.new_empty((*shape[:-1], a.handle.pattern.nnz))
    if out.numel() == 0:
        return out
    x, y = rows_in_memory(x), rows_in_memory(y)
    heads = 1 if len(shape) == 1 else shape[0]
    plan = a.handle.plan("sddmm", x.shape[-1], x.dtype, precision_of(x), heads=heads)
    plan.run((operand(x), operand(y), number_list(out)))
    return a.order.from_csr(out, -1)


def _fake_sddmm(a: Ref, x: Tensor, y: Tensor) -> Tensor:
    return x.new_empty(_shape_of_sddmm(a, x))


class _Sddmm(torch.autograd.Function):
    @staticmethod
    def forward(a: Ref, x: Tensor, y: Tensor) -> Tensor:
        return sddmm.below(a, x, y)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.a, x, y = inputs
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        x, y = ctx.saved_tensors
        dx = spmm.again(ctx.a, False, y, g) if ctx.needs_input_grad[1] else None
        dy = spmm.again(ctx.a, True, x, g) if ctx.needs_input_grad[2] else None
        return None, dx, dy

    @staticmethod
    def jvp(ctx: Any, _a: Any, dx: Tensor | None, dy: Tensor | None) -> Any:
        x, y = ctx.saved_tensors
        return added(
            None if dx is None else sddmm.again(ctx.a, dx, y),
            None if dy is None else sddmm.again(ctx.a, x, dy),
        )

    @staticmethod
    def vmap(info: Any, dims: Any, a: Ref, x: Tensor, y: Tensor) -> Any:
        """A batch is heads."""
        x, y = (
            batch_first(one, dim, info.batch_size).transpose(0, 1)
            for one, dim in ((x, dims[1]), (y, dims[2]))
        )
        if x.dim() == 3:
            return sddmm(a, x, y), 0
        out = sddmm(a, x.flatten(1, 2), y.flatten(1, 2))
        return out.unflatten(0, (info.batch_size, x.shape[2])), 0


sddmm = Operator("sddmm(a, Tensor x, Tensor y) -> Tensor", _sddmm, _fake_sddmm, _Sddmm)


# ---- softmax ----


def _softmax(a: Entries, s: Tensor) -> Tensor:
    dtype = s.dtype
    shares = None
    if a.order.repeats:  # parallel entries are one whose weight they share
        s, shares = a.order.log_sum_exp(s.to(statistic(dtype)))
    else:
        s = a.order.to_csr(s, -1)
    out = torch.empty(s.shape, dtype=s.dtype, device=s.device)
    if out.numel() > 0:
        s = list_in_memory(s)
        plan = a.handle.plan("softmax_rows", 1, s.dtype, heads=1 if s.dim() == 1 else s.shape[0])
        plan.run((number_list(s), number_list(out)))
    out = a.order.from_csr(out, -1)
    return out if shares is None else (out * shares).to(dtype)


def _fake_softmax(a: Ref, s: Tensor) -> Tensor:
    return s.new_empty(s.shape)


def _batched_lists(operator: Operator, size: int, a: Ref, *lists: tuple[Tensor, int | None]) -> Any:
    """An operator whose operands and result have one number for each entry, of a batch of them: heads."""
    batched = [batch_first(one, dim, size) for one, dim in lists]
    if batched[0].dim() == 2:
        return operator(a, *batched), 0
    out = operator(a, *(one.flatten(0, 1) for one in batched))
    return out.unflatten(0, (size, batched[0].shape[1])), 0


class _Softmax(torch.autograd.Function):
    @staticmethod
    def forward(a: Ref, s: Tensor) -> Tensor:
        return softmax.below(a, s)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.a = inputs[0]
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        (p,) = ctx.saved_tensors
        return None, softmax_gradient.again(ctx.a, p, g)

    @staticmethod
    def jvp(ctx: Any, _a: Any, ds: Tensor) -> Any:
        (p,) = ctx.saved_tensors
        return softmax_gradient.again(ctx.a, p, ds)  # the Jacobian is symmetric

    @staticmethod
    def vmap(info: Any, dims: Any, a: Ref, s: Tensor) -> Any:
        return _batched_lists(softmax, info.batch_size, a, (s, dims[1]))


softmax = Operator("softmax(a, Tensor s) -> Tensor", _softmax, _fake_softmax, _Softmax)


def once_differentiable(name: str, instead: str) -> Any:
    """The history of a gradient that has none itself."""

    class Gradient(torch.autograd.Function):
        @staticmethod
        def forward(*arguments: Any) -> Any:
            return Gradient.operator.below(*arguments)  # type: ignore[attr-defined]

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, *gradients: Tensor) -> Any:
            raise UnsupportedError(f"{name} has no second derivative; {instead}")

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            raise UnsupportedError(f"{name} has no second derivative; {instead}")

    return Gradient


def only_reverse(name: str, instead: str | None = None) -> Any:
    """Forward mode and vmap of a function that has neither. `instead`: function with both, if its name differs."""

    def refuse(*_arguments: Any) -> Any:
        raise UnsupportedError(
            f"the operator sptile::{name} supports neither forward mode nor vmap; outside of compiled code use "
            f"sptile.torch.{instead or name}, which supports both"
        )

    return staticmethod(refuse)


def _softmax_gradient(a: Entries, p: Tensor, dp: Tensor) -> Tensor:
    if a.order.repeats:
        return _softmax_gradient_of_repeats(a, p, dp)
    p, dp = (list_in_memory(a.order.to_csr(x, -1)) for x in (p, dp))
    out = torch.empty(p.shape, dtype=p.dtype, device=p.device)
    if out.numel() == 0:
        return out
    plan = a.handle.plan("softmax_rows_gradient", 1, p.dtype, heads=1 if p.dim() == 1 else p.shape[0])
    plan.run((number_list(p), number_list(dp), number_list(out)))
    return a.order.from_csr(out, -1)


def _softmax_gradient_of_repeats(a: Entries, p: Tensor, dp: Tensor) -> Tensor:
    """p (dp - the sum of p dp over the row)."""
    dtype = p.dtype
    p, dp = p.to(statistic(dtype)), dp.to(statistic(dtype))
    ones = p.new_ones((a.cols, *p.shape[:-1], 1))
    sums = _spmm(a, False, ones, p * dp)  # [rows, 1] or [rows, heads, 1]
    return (p * (dp - sums.squeeze(-1).index_select(0, a.row()).movedim(0, -1))).to(dtype)


def _fake_softmax_gradient(a: Ref, p: Tensor, dp: Tensor) -> Tensor:
    return p.new_empty(p.shape)


class _SoftmaxGradient(once_differentiable("softmax", "use spmm with ones to compute row sums instead")):  # type: ignore[misc]
    @staticmethod
    def forward(a: Ref, p: Tensor, dp: Tensor) -> Tensor:
        return softmax_gradient.below(a, p, dp)

    @staticmethod
    def vmap(info: Any, dims: Any, a: Ref, p: Tensor, dp: Tensor) -> Any:
        return _batched_lists(softmax_gradient, info.batch_size, a, (p, dims[1]), (dp, dims[2]))


softmax_gradient = Operator(
    "softmax_gradient(a, Tensor p, Tensor dp) -> Tensor",
    _softmax_gradient,
    _fake_softmax_gradient,
    _SoftmaxGradient,
)


# ---- spmm_max ----


def segments_of(a: Entries) -> Entries:
    """Returns the rows x given pattern in which row i has the ids of the entries that were given for it. Kept."""
    derived: dict[Any, Entries] = a.handle.derived.setdefault("segments", {})
    if a.order not in derived:
        ids = torch.arange(a.given, device=a.device)
        pattern, order = pattern_of_entries(a.row(), ids, a.rows, a.given)
        derived[a.order] = Entries(Handle(pattern), order)
    return derived[a.order]


def every_of(a: Entries) -> Entries:
    """Returns entries whose pattern contains every given entry, parallel ones too. Kept with the order of `a`."""
    if not a.order.repeats:
        return a
    found = a.handle.derived.get("every")
    if found is None or found[0] is not a.order:
        with apart():
            position, source = torch.sort(a.order.positions(), stable=True)
            pattern = a.handle.pattern
            crow = torch.searchsorted(position, pattern.crow)
            every = Pattern(pattern.rows, pattern.cols, crow, pattern.col.index_select(0, position))
            found = a.order, Entries(Handle(every), EntryOrder(a.given, inverse(source), source))
        a.handle.derived["every"] = found
    entries: Entries = found[1]
    return entries


def in_csr_order(a: Entries) -> Entries:
    """Returns the pattern with every given entry, as entries in the order of CSR. Kept with the pattern."""
    handle = every_of(a).handle
    if "in order" not in handle.derived:
        handle.derived["in order"] = Entries(handle, EntryOrder(handle.pattern.nnz))
    entries: Entries = handle.derived["in order"]
    return entries


def _compares_repeats(a: Entries, values: Tensor | None) -> bool:
    """Returns whether products of repeated entries differ. They are then written, and `arg` has the ids of given
    entries instead of columns."""
    return values is not None and a.order.repeats


def _messages(a: Entries, b: Tensor, values: Tensor) -> Tensor:
    """The products of the given entries [given, ...]."""
    factors = values.unsqueeze(-1) if values.dim() == 1 else values.t().unsqueeze(-1)
    return factors * b.index_select(0, a.col())


def _spmm_max(a: Entries, b: Tensor, values: Tensor | None, least: bool) -> tuple[Tensor, Tensor]:
    if _compares_repeats(a, values):
        products = _messages(a, b, values)  # type: ignore[arg-type]
        flat = products.reshape(a.given, products.shape[1:].numel())
        out, arg = _spmm_max(segments_of(a), flat, None, least)
        return out.reshape(a.rows, *b.shape[1:]), arg.reshape(a.rows, *b.shape[1:])
    out, arg = _fake_spmm_max(a, b, values, least)
    if out.numel() == 0:
        return out, arg
    if a.given == 0:
        return out.zero_(), arg.fill_(-1)
    b, handle = rows_in_memory(b), a.handle
    operation, heads = "spmm_min" if least else "spmm_max", 1 if b.dim() == 2 else b.shape[1]
    plan = handle.plan(operation, b.shape[-1], b.dtype, None, values is not None, heads=heads)
    _run_with_values(plan, (operand(b), operand(arg), operand(out)), handle, _in_csr_order(a, values))
    return out, arg


def _in_csr_order(a: Entries, values: Tensor | None) -> Tensor | None:
    return None if values is None else list_in_memory(a.order.to_csr(values, -1))


def _run_with_values(plan: TorchPlan, operands: tuple[Any, ...], handle: Handle, values: Tensor | None) -> None:
    """Runs a plan with values [nnz] or [heads, nnz], or with those of the plan."""
    if values is None:
        plan.run(operands)
    else:
        plan.run(operands, number_list(values)[0], handle.pattern.nnz)


def _fake_spmm_max(a: Sizes, b: Tensor, values: Tensor | None, least: bool) -> tuple[Tensor, Tensor]:
    shape = (a.rows, *b.shape[1:])
    return b.new_empty(shape), b.new_empty(shape, dtype=torch.int32)


class _SpmmMax(torch.autograd.Function):
    @staticmethod
    def forward(a: Ref, b: Tensor, values: Tensor | None, least: bool) -> tuple[Tensor, Tensor]:
        return spmm_max.below(a, b, values, least)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.a, b, values, _least = inputs
        _out, arg = output
        ctx.save_for_backward(arg, b if ctx.needs_input_grad[2] else None, values)
        ctx.mark_non_differentiable(arg)

    @staticmethod
    def backward(ctx: Any, g: Tensor, _arg: Tensor) -> Any:
        (arg, b, values), (of_b, of_values) = ctx.saved_tensors, ctx.needs_input_grad[1:3]
        db, dvalues = spmm_max_gradient.again(ctx.a, g, arg, b, values, of_b, of_values)
        return None, db if of_b else None, dvalues if of_values else None, None

    jvp = vmap = only_reverse("spmm_max")


spmm_max = Operator(
    "spmm_max(a, Tensor b, Tensor? values, bool least) -> (Tensor, Tensor)", _spmm_max, _fake_spmm_max, _SpmmMax
)


def _spmm_max_gradient(
    a: Entries, g: Tensor, arg: Tensor, b: Tensor | None, values: Tensor | None, of_b: bool, of_values: bool
) -> tuple[Tensor, Tensor]:
    if of_values and (b is None or values is None):
        raise UsageError("spmm_max_gradient: the gradient of values requires x and values")
    if _compares_repeats(a, values):
        return _gradient_of_repeats(a, g, arg, b, values, of_b, of_values)  # type: ignore[arg-type]
    handle, heads, n = a.handle, 1 if g.dim() == 2 else g.shape[1], g.shape[-1]
    db, _ = _fake_spmm_max_gradient(a, g, arg, b, values, of_b, of_values)
    listed = g.new_empty((*([] if g.dim() == 2 else [heads]), handle.pattern.nnz if of_values else 0))
    if g.numel() == 0 or a.given == 0:
        return db.zero_(), a.order.from_csr(listed.zero_(), -1) if of_values else listed
    g, arg = rows_in_memory(g), rows_in_memory(arg)
    if of_b:
        of_csr = _in_csr_order(a, values)
        turned = None if of_csr is None else of_csr.index_select(-1, handle.source())
        plan = handle.transposed().plan("spmm_max_gradient_t", n, g.dtype, None, values is not None, heads=heads)
        _run_with_values(plan, (operand(g), operand(arg), operand(db)), handle, turned)
    if of_values:
        plan = handle.plan("spmm_max_gradient", n, g.dtype, heads=heads)
        b = rows_in_memory(b)  # type: ignore[arg-type]
        plan.run((operand(g), operand(arg), operand(b), number_list(listed)))
        listed = a.order.from_csr(listed, -1)
    return db, listed


def _gradient_of_repeats(
    a: Entries, g: Tensor, arg: Tensor, b: Tensor | None, values: Tensor, of_b: bool, of_values: bool
) -> tuple[Tensor, Tensor]:
    """Writes the gradients of the products, which have one writer each."""
    db, dvalues = _fake_spmm_max_gradient(a, g, arg, b, values, of_b, of_values)
    known = (arg >= 0) & (arg < a.given)  # others: rows without entries
    place = torch.where(known, arg, a.given).long()
    products = g.new_zeros((a.given + 1, *g.shape[1:])).scatter_(0, place, g)[: a.given]
    if of_values:
        dvalues = (products * b.index_select(0, a.col())).sum(-1)  # type: ignore[union-attr]
        dvalues = dvalues if dvalues.dim() == 1 else dvalues.t()
    if of_b:
        turned = Entries(a.handle.transposed(), a.order.transposed(a.handle.source()))
        factors = values.unsqueeze(-1) if values.dim() == 1 else values.t().unsqueeze(-1)
        flat = (factors * products).reshape(a.given, products.shape[1:].numel())
        db = _spmm(segments_of(turned), False, flat, None).reshape(db.shape)
    return db, dvalues


def _fake_spmm_max_gradient(
    a: Sizes, g: Tensor, arg: Tensor, b: Tensor | None, values: Tensor | None, of_b: bool, of_values: bool
) -> tuple[Tensor, Tensor]:
    heads = [] if g.dim() == 2 else [g.shape[1]]
    return (
        g.new_empty((a.cols, *g.shape[1:]) if of_b else (0,)),
        g.new_empty((*heads, a.given) if of_values else (*heads, 0)),
    )


spmm_max_gradient = Operator(
    "spmm_max_gradient(a, Tensor g, Tensor arg, Tensor? b, Tensor? values, bool of_b, bool of_values)"
    " -> (Tensor, Tensor)",
    _spmm_max_gradient,
    _fake_spmm_max_gradient,
    once_differentiable("spmm_max", "maxima are piecewise linear"),
)


# ---- spmm_update ----


def update_plan(handle: Handle, n: int, m: int, like: Tensor, relu: bool, transposed_weights: bool) -> TorchPlan:
    """Returns the plan of a fused update with operands like a tensor."""
    return handle.plan(
        "spmm_update", n, like.dtype, precision_of(like),
        m=m, activation="relu" if relu else None, transposed_weights=transposed_weights,
    )  # fmt: skip


def _spmm_update(
    a: Entries,
    t: bool,
    b: Tensor,
    w: Tensor,
    bias: Tensor | None,
    relu: bool,
    transposed_weights: bool,
    keep: bool,
) -> tuple[Tensor, Tensor]:
    handle = a.handle
    out, z = _fake_spmm_update(a, t, b, w, bias, relu, transposed_weights, keep)
    m = out.shape[1]
    if out.numel() == 0:
        return out, z
    b, w = rows_in_memory(b), rows_in_memory(w)
    if t:
        handle = handle.transposed()
    plan = update_plan(handle, b.shape[1], m, b, relu, transposed_weights)
    bias = None if bias is None else list_in_memory(bias)
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
    a: Sizes,
    t: bool,
    b: Tensor,
    w: Tensor,
    bias: Tensor | None,
    relu: bool,
    transposed_weights: bool,
    keep: bool,
) -> tuple[Tensor, Tensor]:
    rows, m = sizes(a, t)[0], w.shape[0 if transposed_weights else 1]
    return b.new_empty((rows, m)), b.new_empty((rows if keep else 0, b.shape[1]))


class _SpmmUpdate(torch.autograd.Function):
    @staticmethod
    def forward(
        a: Ref,
        t: bool,
        b: Tensor,
        w: Tensor,
        bias: Tensor | None,
        relu: bool,
        transposed_weights: bool,
        keep: bool,
    ) -> tuple[Tensor, Tensor]:
        keep = keep or any(x is not None and x.requires_grad for x in (w, bias))
        return spmm_update.below(a, t, b, w, bias, relu, transposed_weights, keep)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.a, ctx.t, _b, w, _bias, ctx.relu, ctx.transposed_weights, _keep = inputs
        out, z = output
        wanted = ctx.needs_input_grad[3] or ctx.needs_input_grad[4]
        ctx.save_for_backward(w, z if wanted else None, out if ctx.relu else None)
        ctx.mark_non_differentiable(z)

    @staticmethod
    def backward(ctx: Any, dc: Tensor, _dz: Tensor) -> Any:
        w, z, out = ctx.saved_tensors
        g, db, dw, dbias = dc, None, None, None
        if z is not None:
            through, dbias, dw = update_gradient.again(ctx.a, ctx.t, z, dc, out, ctx.relu)
            g = through if ctx.relu else dc
            dw = dw.t() if ctx.transposed_weights else dw
        elif ctx.relu:
            g = torch.where(out > 0, dc, 0)
        if ctx.needs_input_grad[2]:
            db, _ = spmm_update.again(ctx.a, not ctx.t, g, w, None, False, not ctx.transposed_weights, False)
        wanted = ctx.needs_input_grad
        return None, None, db, dw if wanted[3] else None, dbias if wanted[4] else None, None, None, None

    jvp = vmap = only_reverse("spmm_update")


spmm_update = Operator(
    "spmm_update(a, bool t, Tensor b, Tensor w, Tensor? bias, bool relu, bool transposed_weights,"
    " bool keep) -> (Tensor, Tensor)",
    _spmm_update,
    _fake_spmm_update,
    _SpmmUpdate,
)


def _update_gradient(
    a: Entries, t: bool, z: Tensor, dc: Tensor, out: Tensor | None, relu: bool
) -> tuple[Tensor, Tensor, Tensor]:
    handle = a.handle
    g, dbias, dw = _fake_update_gradient(a, t, z, dc, out, relu)
    n, m = dw.shape
    if dc.numel() == 0:
        return g, dbias.zero_(), dw.zero_()
    z, dc = rows_in_memory(z), rows_in_memory(dc)
    out = rows_in_memory(out) if relu and out is not None else None
    activation = "relu" if relu else None
    handle = handle.transposed() if t else handle
    plan = handle.plan("update_gradient", n, z.dtype, precision_of(z), m=m, activation=activation)
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
    _a: Sizes, _t: bool, z: Tensor, dc: Tensor, out: Tensor | None, relu: bool
) -> tuple[Tensor, Tensor, Tensor]:
    m = dc.shape[1]
    g = dc.new_empty(dc.shape) if relu else dc.new_empty((0, m))
    return g, dc.new_empty((m,)), dc.new_empty((z.shape[1], m))


update_gradient = Operator(
    "update_gradient(a, bool t, Tensor z, Tensor dc, Tensor? out, bool relu) -> (Tensor, Tensor, Tensor)",
    _update_gradient,
    _fake_update_gradient,
    once_differentiable("spmm_update", "use spmm and a dense product instead"),
)
