"""Communication between ranks, with gradients of any order: products, gathered rows, and the reverse exchange."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from .. import operators
from ..handle import packed_key
from ..matrix import SparseMatrix
from .exchange import FETCH, GIVE_BACK, PRODUCT, PRODUCT_T, Exchange, Header, header_of
from .step import Step


class Halves(NamedTuple):
    """The rows of a rank: their columns [owned, owned] that it owns, and [owned, needed] that others own. `boundary`
    is the last rows of `halo`, without the empty ones before them."""

    local: SparseMatrix
    halo: SparseMatrix
    boundary: SparseMatrix
    exchange: Exchange
    symmetric: bool
    repeated: dict[Any, Repeated]  # products by one call of the library, by packed_key of the operand


class Repeated(NamedTuple):
    """A product that was made before: its step, the bytes it sends, and its headers without and with gradient."""

    step: Step
    sent: int
    headers: tuple[Header, Header]

    def run(self, exchange: Exchange, x: Tensor, address: int, out: Tensor | None = None) -> Tensor:
        """Returns the product, see `Step.run`."""
        exchange.bytes_sent += self.sent
        return self.step.run(x, address, out)


class Product(torch.autograd.Function):
    """A x, or A^T x: x [owned, n], the result [owned, n]."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, a: Halves, t: bool) -> Tensor:
        ctx.a, ctx.t = a, t
        return _either(a, x, t)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        g = g.contiguous()
        ctx.a.exchange.agree(PRODUCT if ctx.t else PRODUCT_T, g)
        if not torch.is_grad_enabled():
            return _either(ctx.a, g, not ctx.t), None, None
        return Product.apply(g, ctx.a, not ctx.t), None, None  # type: ignore[no-untyped-call]


# Function.apply without its search for transforms of torch.func, which a distributed product does not support.
apply_product: Any = super(torch.autograd.Function, Product).apply


def _either(a: Halves, x: Tensor, t: bool) -> Tensor:
    return multiply(a, x) if not t or a.symmetric else _product_t(a, x)


def multiply(a: Halves, x: Tensor, out: Tensor | None = None) -> Tensor:
    """Returns A x without history, in `out` if it is given: x [owned, n]."""
    repeated = a.repeated.get(packed_key(x))
    if repeated is not None and (address := repeated.step.address(x)):
        return repeated.run(a.exchange, x, address, out)
    before = a.exchange.bytes_sent
    result = _product(a, x)
    channel = a.exchange.channel(x)
    if repeated is None and channel is not None and result.numel() > 0:
        boundary = a.boundary._product.entries.handle
        needed = boundary if boundary.pattern.nnz > 0 else None
        step = Step(a.local._product.entries.handle, needed, channel, x)
        headers = header_of(PRODUCT, x, False), header_of(PRODUCT, x, True)
        a.repeated[packed_key(x)] = Repeated(step, a.exchange.bytes_sent - before, headers)
    return result if out is None else out.copy_(result)


def _product(a: Halves, x: Tensor) -> Tensor:
    """Multiplies local x while the rows of other ranks are in flight, then adds halo times these rows to the boundary
    rows."""
    pending = a.exchange.fetch(x)
    out = operators.spmm.below(a.local._product, False, x, None)
    interior = out.shape[0] - a.boundary.shape[0]
    operators.add_spmm(a.boundary._product, False, pending.wait(), out[interior:])
    return out


def _product_t(a: Halves, x: Tensor) -> Tensor:
    """halo^T x is sent while local^T x is computed; received rows are added to the owned rows."""
    pending = a.exchange.give_back(operators.spmm.below(a.halo._product, True, x, None))
    out: Tensor = operators.spmm.below(a.local._product, True, x, None)
    a.exchange.add(out, pending.wait())
    return out


class Fetch(torch.autograd.Function):
    """Rows of others: x [owned, n], the result [needed, n]."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, exchange: Exchange) -> Tensor:
        ctx.exchange = exchange
        return exchange.fetch(x).wait().clone()  # the next exchange overwrites them

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        g = g.contiguous()
        ctx.exchange.agree(GIVE_BACK, g)
        return GiveBack.apply(g, ctx.exchange), None  # type: ignore[no-untyped-call]


class GiveBack(torch.autograd.Function):
    """Sums, for each owned row, the contributions of other ranks: r [needed, n], the result [owned, n]."""

    @staticmethod
    def forward(ctx: Any, r: Tensor, exchange: Exchange) -> Tensor:
        ctx.exchange = exchange
        arrived = exchange.give_back(r).wait()
        out = r.new_zeros((exchange.owned, r.shape[1]))
        exchange.add(out, arrived)
        return out

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        g = g.contiguous()
        ctx.exchange.agree(FETCH, g)
        return Fetch.apply(g, ctx.exchange), None  # type: ignore[no-untyped-call]
