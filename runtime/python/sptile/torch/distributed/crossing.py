"""An exchange of rows around other work, with gradients: rows are in flight until they are needed, forward and
backward."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .exchange import GIVE_BACK, Exchange
from .products import GiveBack


class Crossing:
    """Starts to fetch rows of other ranks. x [owned, n] matches on all ranks.

    Operations on `own`, which equals x, run while the rows are in flight. `others` waits for them. In the backward pass,
    gradients of these rows are sent before the gradients of `own` are computed, and are added to them afterwards.
    """

    def __init__(self, exchange: Exchange, x: Tensor) -> None:
        self.exchange = exchange
        self._pending: Any = None
        self._kept: Tensor | None = None
        self._fly(exchange.fetch(x.detach()))
        learns = x.requires_grad and torch.is_grad_enabled()
        self.own: Tensor = _Own.apply(x, self) if learns else x  # type: ignore[no-untyped-call]

    def others(self) -> Tensor:
        """Returns the rows of other ranks, [needed, n]."""
        rows: Tensor = _Others.apply(self.own, self)  # type: ignore[no-untyped-call]
        return rows

    def give_back(self, g: Tensor) -> None:
        """Starts to send gradients of rows of other ranks."""
        self._fly(self.exchange.give_back(g))

    def settle(self) -> None:
        """Keeps the rows in flight, which another exchange would overwrite."""
        if self._pending is not None:
            self._kept = self.arrived()

    def arrived(self) -> Tensor | None:
        """Waits for the rows in flight, and returns a copy. None if there are none."""
        pending, rows = self._pending, self._kept
        self._pending = self._kept = None
        if pending is None:
            return rows
        self.exchange.unfinished = None
        rows = pending.wait().clone()
        return rows

    def _fly(self, pending: Any) -> None:
        self._pending, self.exchange.unfinished = pending, self


class _Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, crossing: Crossing) -> Tensor:
        ctx.crossing = crossing
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        crossing: Crossing = ctx.crossing
        arrived = crossing.arrived()
        if arrived is None:
            return g, None
        total = g.clone()
        crossing.exchange.add(total, arrived)
        return total, None


class _Others(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, own: Tensor, crossing: Crossing) -> Tensor | None:
        ctx.crossing = crossing
        return crossing.arrived()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        crossing, g = ctx.crossing, g.contiguous()
        crossing.exchange.agree(GIVE_BACK, g)
        if torch.is_grad_enabled():  # the gradient has a gradient
            return GiveBack.apply(g, crossing.exchange), None  # type: ignore[no-untyped-call]
        crossing.give_back(g)
        return None, None
