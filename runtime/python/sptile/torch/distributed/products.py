"""Communication between ranks, with gradients of any order: products, gathered rows, and the reverse exchange."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from .. import operators
from ..matrix import SparseMatrix
from .exchange import FETCH, GIVE_BACK, PRODUCT, PRODUCT_T, Exchange


class Halves(NamedTuple):
    """The rows of a rank: their columns [owned, owned] that it owns, and [owned, needed] that others own. `boundary`
    is the last rows of `halo`, without the empty ones before them."""

    local: SparseMatrix
    halo: SparseMatrix
    boundary: SparseMatrix
    exchange: Exchange
    symmetric: bool


class Product(torch.autograd.Function):
    """A x, or A^T x: x [owned, n], the result [owned, n]."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, a: Halves, t: bool) -> Tensor:
        ctx.a, ctx.t = a, t
        return _product(a, x) if not t or a.symmetric else _product_t(a, x)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        g = g.contiguous()
        ctx.a.exchange.agree(PRODUCT if ctx.t else PRODUCT_T, g)
        return Product.apply(g, ctx.a, not ctx.t), None, None  # type: ignore[no-untyped-call]


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
