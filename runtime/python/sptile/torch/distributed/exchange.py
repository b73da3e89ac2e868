"""Exchange of rows between the parts of a matrix, forward and backward, overlapped with other work."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from ...errors import Error, UsageError
from ...part import Part
from ..handle import DTYPES
from .ranks import Ranks, as_bytes, rank_list

CHECKS = ("always", "first")

# Kind of a call; all ranks must make the same calls.
PRODUCT, PRODUCT_T, FETCH, GIVE_BACK, COLLECT, ADD_UP = range(6)
_CALLS = (
    "A @ x",
    "the gradient of A @ x",
    "rows of others",
    "the gradient of rows of others",
    "collect",
    "add_up",
)
_OF_ROWS = (PRODUCT, PRODUCT_T, FETCH, GIVE_BACK)
_DTYPES = tuple(DTYPES)


class Pending:
    """Rows in flight."""

    def __init__(self, ranks: Ranks, arrived: Tensor, keep: Tensor, work: Any, device: torch.device) -> None:
        self._ranks, self._arrived, self._keep, self._work, self._device = ranks, arrived, keep, work, device

    def wait(self) -> Tensor:
        """Returns the received rows, ordered by sender. On a CUDA device, its stream waits, not the host."""
        if self._work is not None:
            self._ranks.guarded("the exchange of rows", self._work.wait)
        return self._arrived.to(self._device)


class _Header(NamedTuple):
    """Properties of a call that must be equal on all ranks."""

    call: int
    width: int
    dtype: int
    learns: int

    def __str__(self) -> str:
        learns = ", which requires a gradient" if self.learns else ""
        return f"{_CALLS[self.call]} of {self.width} columns of {_DTYPES[self.dtype]}{learns}"


class Lists(NamedTuple):
    """Properties of a part that an exchange needs: the owned rows, and the rows sent to and received from each other
    part."""

    owned: int
    sent_counts: list[int]
    received_counts: list[int]
    send_rows: Tensor

    @classmethod
    def of(cls, part: Part) -> Lists:
        counts = (np.diff(offset).tolist() for offset in (part.send_offset, part.receive_offset))
        return cls(len(part.old_ids), *counts, torch.from_numpy(part.send_rows.astype(np.int64)))

    @classmethod
    def alone(cls, owned: int, ranks: int) -> Lists:
        """Returns the lists of ranks that need no rows of each other."""
        return cls(owned, [0] * ranks, [0] * ranks, torch.empty(0, dtype=torch.int64))


class Exchange:
    """Sends rows of this part to the ranks that need them, and receives rows of other parts.

    alone       no rank needs rows of another: no rank waits for another when it multiplies
    bytes_sent  of rows that this rank handed to the exchange since the matrix was opened, counted call by call
    """

    def __init__(
        self, lists: Lists, ranks: Ranks, device: torch.device, check: str, *, alone: bool = False
    ) -> None:
        if check not in CHECKS:
            raise UsageError(f"check must be one of {', '.join(map(repr, CHECKS))}, got {check!r}")
        self.ranks, self.device, self.owned, self.check, self.alone = ranks, device, lists.owned, check, alone
        self.sent_counts, self.received_counts = lists.sent_counts, lists.received_counts
        self.send_rows = lists.send_rows.to(device)
        self.bytes_sent = 0
        self._agreed: set[_Header] = set()
        # Rows are sent from device memory if the group supports it, otherwise through host memory.
        direct = device.type == "cuda" and ranks.backends.get("cuda", "gloo") != "gloo"
        self._wire = device if direct else torch.device("cpu")
        self._stream = torch.cuda.Stream(device) if device.type == "cuda" else None

    def agree(self, call: int, x: Tensor, refusal: Error | None = None) -> None:
        """Checks that all ranks make the same call; otherwise all raise UsageError, which names the ranks and their
        calls. `refusal` is this rank's error for its own operand: this rank raises it, and the others name the rank."""
        if self.alone and call in _OF_ROWS:
            if refusal is not None:
                raise refusal
            return
        header = _Header(0, 0, 0, 0)
        if refusal is None:
            header = _Header(call, x.shape[1:].numel(), _DTYPES.index(x.dtype), int(x.requires_grad))
            if self.check == "first" and header in self._agreed:
                return
        told = self.ranks.numbers([int(refusal is not None), *header])
        if refusal is not None:
            raise refusal
        refused = [rank for rank, numbers in enumerate(told) if numbers[0]]
        if refused:
            raise UsageError(f"{rank_list(refused)} refused the operand of {_CALLS[call]}; see the error there")
        headers = [_Header(*numbers[1:]) for numbers in told]
        if len(set(headers)) > 1:
            who = {one: [rank for rank, other in enumerate(headers) if other == one] for one in headers}
            raise UsageError(
                "the calls of the ranks differ: "
                + "; ".join(f"{rank_list(ranks)}: {one}" for one, ranks in list(who.items())[:4])
            )
        self._agreed.add(header)

    def fetch(self, x: Tensor) -> Pending:
        """Starts to receive rows from other ranks: x [owned, n]; the result is [needed, n]."""
        return self._begin(
            lambda: x.index_select(0, self.send_rows), x, self.sent_counts, self.received_counts
        )

    def give_back(self, r: Tensor) -> Pending:
        """Sends contributions back to the owners of their rows. r [needed, n] contributes to rows of other ranks;
        the result [sent rows, n] contributes to rows `send_rows`, ordered by sender."""
        return self._begin(lambda: r, r, self.received_counts, self.sent_counts)

    def add(self, out: Tensor, arrived: Tensor) -> None:
        """Adds received gradients to rows of out [owned, n] in the order of senders, which makes bits reproducible;
        each sender has a row once."""
        senders = zip(arrived.split(self.sent_counts), self.send_rows.split(self.sent_counts), strict=True)
        for rows, places in senders:
            if places.numel() > 0:
                out.index_add_(0, places, rows)

    def sum_over_ranks(self, numbers: Tensor) -> Tensor:
        """Returns the sums over all ranks of a tensor [n]."""
        sums = numbers.to(self._wire, copy=True)
        self.ranks.guarded("add_up", lambda: dist.all_reduce(sums, group=self.ranks.group))
        return sums.to(self.device)

    def _begin(
        self, gather: Callable[[], Tensor], like: Tensor, sent: list[int], received: list[int]
    ) -> Pending:
        n = like.shape[1]
        arrived = torch.empty((sum(received), n), dtype=like.dtype, device=self._wire)
        if self.ranks.size == 1 or n == 0 or self.alone:
            return Pending(self.ranks, arrived, arrived, None, self.device)
        with self._beside():
            leaving = gather().to(self._wire)
            work: Any = None

            def send() -> None:
                nonlocal work
                work = dist.all_to_all_single(
                    as_bytes(arrived),
                    as_bytes(leaving),
                    received,
                    sent,
                    group=self.ranks.group,
                    async_op=True,
                )

            self.ranks.guarded("the exchange of rows", send)
        self.bytes_sent += leaving.numel() * leaving.element_size()
        return Pending(self.ranks, arrived, leaving, work, self.device)

    def _beside(self) -> AbstractContextManager[Any]:
        """Makes the side stream current, after it has waited for the work of the current stream."""
        if self._stream is None:
            return nullcontext()
        self._stream.wait_stream(torch.cuda.current_stream(self.device))
        return torch.cuda.stream(self._stream)
