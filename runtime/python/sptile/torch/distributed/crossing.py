"""An exchange of rows around other work, with gradients: rows are in flight until they are needed, forward and
backward."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .exchange import GIVE_BACK, Exchange
from .products import GiveBack


class Crossing:
    """Rows of other ranks in flight, from the `sent` rows [owned, n] of this rank, which match on all ranks. Its columns
    are those of several `parts`, [owned, ...] each, to which gradients return.

    Operations on `own(parts)`, which equal the parts, run while the rows are in flight. `gathered` waits for them. In the
    backward pass, gradients of these rows are sent before the gradients of the own ones are computed, and are added to
    them afterwards.
    """

    def __init__(self, exchange: Exchange, sent: Tensor, parts: tuple[Tensor, ...]) -> None:
        self.exchange = exchange
        self._pending: Any = None
        self._kept: Tensor | None = None
        self._fly(exchange.fetch(sent.detach()))
        self.shapes = [x.shape[1:] for x in parts]

    def own(self, parts: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Returns the parts. The crossing does not keep them: their history refers to it."""
        if torch.is_grad_enabled() and any(x.requires_grad for x in parts):
            return _Own.apply(self, *parts)  # type: ignore[no-untyped-call, no-any-return]
        return parts

    def gathered(self, own: tuple[Tensor, ...], used: Tensor | None) -> list[Tensor]:
        """Returns rows `used` of each own part (None: all of them), followed by the rows of other ranks."""
        others = _Others.apply(self, *own)  # type: ignore[no-untyped-call]
        rows = own if used is None else [x.index_select(0, used) for x in own]
        return [torch.cat(pair) for pair in zip(rows, others, strict=True)]

    def split(self, rows: Tensor) -> list[Tensor]:
        """Returns the columns of each part, [rows, ...]."""
        columns = rows.split([shape.numel() for shape in self.shapes], 1)
        return [one.reshape(-1, *shape) for one, shape in zip(columns, self.shapes, strict=True)]

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
    def forward(ctx: Any, crossing: Crossing, *parts: Tensor) -> tuple[Tensor, ...]:
        ctx.crossing = crossing
        return tuple(x.view_as(x) for x in parts)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        crossing: Crossing = ctx.crossing
        arrived = crossing.arrived()
        if arrived is None:
            return None, *gradients
        sums = [g.clone() for g in gradients]
        for g, contributions in zip(sums, crossing.split(arrived), strict=True):
            crossing.exchange.add(g, contributions.to(g.dtype))
        return None, *sums


class _Others(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, crossing: Crossing, *_own: Tensor) -> tuple[Tensor, ...]:
        ctx.crossing = crossing
        return tuple(crossing.split(crossing.arrived()))  # type: ignore[arg-type]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        crossing: Crossing = ctx.crossing
        g = torch.cat([one.flatten(1) if one.dim() > 1 else one[:, None] for one in gradients], 1)
        crossing.exchange.agree(GIVE_BACK, g)
        if torch.is_grad_enabled():  # the gradient has a gradient
            given = GiveBack.apply(g, crossing.exchange)  # type: ignore[no-untyped-call]
            return None, *crossing.split(given)
        crossing.give_back(g)
        return None, *(None for _ in gradients)
