"""Exchange of rows between the parts of a matrix, forward and backward, overlapped with other work."""

from __future__ import annotations

import math
import time
import warnings
from functools import partial
from typing import Any, NamedTuple, NoReturn

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from ...errors import Error, InternalError, UnsupportedError, UsageError
from ...part import Part
from ..handle import DTYPES
from .notices import Notice, Notices
from .peers import Peers
from .ranks import Ranks, host, rank_list
from .whole import seconds
from .wires import Arrived, Collective, Pending, Route, Wire

CHECKS = ("first", "every")
WIRES = ("auto", "group", "peers")

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
# Columns, runs and time-out of the exchanges that choose a wire.
_TRIAL_COLUMNS, _TRIAL_RUNS, _TRIAL_SECONDS = 32, 10, 5.0
# Maximum number of calls that the host is ahead of the device, and the interval at which it checks. With a full
# queue of the device, it could not learn of errors of other ranks.
_AHEAD, _GROUP = 32, 8
# Time limit for a device after the process of another rank has exited.
_EXITED_SECONDS = 2.0
# Time limit for ranks that exchange rows to read the notice of a refused operand.
_REFUSAL_SECONDS = 5.0


def _host_of(device: torch.device) -> str:
    """Returns the host of a CUDA device. Raises UnsupportedError for another device, which can map none."""
    if device.type != "cuda":
        raise UnsupportedError(f'wire="peers" requires CUDA devices, got {device}')
    return host()


class Header(NamedTuple):
    """Properties of a call that must be equal on all ranks."""

    call: int
    width: int
    dtype: int
    learns: int

    def __str__(self) -> str:
        learns = ", which requires a gradient" if self.learns else ""
        return f"{_CALLS[self.call]} of {self.width} columns of {_DTYPES[self.dtype]}{learns}"


def header_of(call: int, x: Tensor, learns: bool) -> Header:
    """Returns the properties of a call with operand x, of which a gradient is required if `learns`."""
    return Header(call, x.shape[1:].numel(), _DTYPES.index(x.dtype), int(learns))


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
        return cls(owned, [0] * ranks, [0] * ranks, torch.empty(0, dtype=torch.int64, device="cpu"))


class Exchange:
    """Sends rows of this part to the ranks that need them, and receives rows of other parts.

    With check "every" the ranks compare each call in a message before it. With "first" they compare calls that are new,
    and calls whose operand a rank refuses. Meanwhile other ranks may exchange rows for a call that they have compared
    before: they read the notice of the former within 50 ms while they wait, or in a later call, and all ranks stop.

    alone       no rank needs rows of another: no rank waits for another when it multiplies
    bytes_sent  of rows that this rank handed to the exchange since the matrix was opened, counted call by call
    """

    def __init__(
        self, lists: Lists, ranks: Ranks, device: torch.device, check: str, *, alone: bool = False
    ) -> None:
        if check == "always":
            warnings.warn('check="always" is now check="every"', DeprecationWarning, stacklevel=5)
            check = "every"
        if check not in CHECKS:
            raise UsageError(f"check must be one of {', '.join(map(repr, CHECKS))}, got {check!r}")
        self.ranks, self.device, self.owned, self.check, self.alone = ranks, device, lists.owned, check, alone
        self.sent_counts, self.received_counts = lists.sent_counts, lists.received_counts
        self.send_rows = lists.send_rows.to(device)
        self.bytes_sent = 0
        self._forward = Route("fetch", lists.sent_counts, lists.received_counts, self.send_rows)
        self._backward = Route("give_back", lists.received_counts, lists.sent_counts, None)
        forward, backward = self._forward, self._backward
        self._routes = {
            PRODUCT: (forward,),
            PRODUCT_T: (forward, backward),  # of a symmetric matrix, or not
            FETCH: (forward,),
            GIVE_BACK: (backward,),
        }
        self._agreed: set[Header] = set()
        self._calls = self._compared = 0  # calls so far, and the last of them that the ranks compared
        self.name = ""
        self._last: Header | None = None
        self._stopped = ""
        self._notices: Notices | None = None
        count = _AHEAD // _GROUP if device.type == "cuda" else 0
        self._events = [torch.cuda.Event() for _ in range(count)]  # of the work at recent calls
        # Rows are sent from device memory if the group supports it, otherwise through host memory.
        self._direct = device.type == "cuda" and ranks.backends.get("cuda", "gloo") != "gloo"
        self._wire: Wire = Collective(ranks, device, self._direct, self.look)
        self._moves = not alone
        # The Crossing whose rows are in flight; the next exchange would overwrite them.
        self.unfinished: Any = None

    def start(self, name: str, moves: bool) -> None:
        """Begins to read the notices of other ranks. `name` is the same on all ranks and of no other exchange; `moves`
        says whether any rank needs rows of another."""
        self.name = name
        self._notices = Notices(self.ranks, name)
        self._moves = moves

    @property
    def wire(self) -> str:
        """Name of the way of rows."""
        return self._wire.name

    def choose(self, wire: str) -> None:
        """Chooses how rows are sent: by the backend of the process group ("group"), by writing into the memory of the
        other devices ("peers"), or by the faster of both ("auto"). All ranks make the same call and raise the same
        error: UnsupportedError if the devices cannot map each other and "peers" is required."""
        if wire == "group" or (wire == "auto" and not self._direct) or not self._moves or self.ranks.size == 1:
            return
        group = self._wire
        try:
            _, told = self.ranks.attempt(lambda: _host_of(self.device), lambda host: {"host": host})
            if any(one != told[0] for one in told):
                raise UnsupportedError('wire="peers" requires CUDA devices of one host')
            peers = Peers(self.ranks, self.device, group.place)
            by_group, by_peers = self._trial(group, peers)
        except Error:
            if wire == "peers":
                raise
            return
        if wire == "peers" or by_peers < by_group:
            self._wire = peers

    def _trial(self, group: Wire, peers: Peers) -> list[float]:
        """Returns the seconds of an exchange by each wire on the slowest rank, once both have delivered the same rows.
        Raises UnsupportedError otherwise."""
        x, _ = self.ranks.attempt(lambda: torch.rand(self.owned, _TRIAL_COLUMNS, device=self.device), lambda _: {})
        for wire in (group, peers):
            wire.prepare(self._forward, _TRIAL_COLUMNS, x.dtype)
        peers.seconds = min(_TRIAL_SECONDS, self.ranks.seconds)

        def fetch(wire: Wire) -> Tensor:
            return wire.begin(self._forward, x).wait()

        def compare_rows() -> None:
            with torch.no_grad():
                equal = torch.equal(fetch(group), fetch(peers))
            if peers.fault() or not equal:
                raise UnsupportedError(f"rows do not arrive in the memory of {self.device}: {peers.fault()}")

        self.ranks.attempt(compare_rows, lambda _: {})
        _, told = self.ranks.attempt(
            lambda: [seconds(partial(fetch, wire), self.device, _TRIAL_RUNS) for wire in (group, peers)],
            lambda found: {"seconds": found},
        )
        peers.seconds = self.ranks.seconds
        return [max(one["seconds"][i] for one in told) for i in range(2)]

    def agree(self, call: int, x: Tensor, refusal: Error | None = None) -> None:
        """Checks that all ranks make the same call; otherwise all raise UsageError, which names the ranks and their
        calls. `refusal` is this rank's error for its own operand: this rank raises it, and the others name the rank."""
        if self.alone and call in _OF_ROWS:
            if refusal is not None:
                raise refusal
            return
        header = None
        if refusal is None:
            header = header_of(call, x, x.requires_grad)
            if self.repeats(header):
                return
        self._enter()
        self._compare(call, header, refusal)

    def repeats(self, header: Header) -> bool:
        """Begins a call that the ranks need not compare. Returns False if they must."""
        if self.check != "first" or header not in self._agreed:
            return False
        self._enter()
        self._last = header
        if self._events and self._calls % _GROUP == 0:
            self._limit_queue()
        if self._notices is not None and self._notices.due():
            self.look()
        return True

    def _enter(self) -> None:
        """Counts a call, unless an earlier one has failed."""
        if self._stopped:
            raise UsageError(
                f"an earlier call failed ({self._stopped}); open the partition again with another process group"
            )
        if fault := self._wire.fault():
            self._raise_fault(fault)
        self._calls += 1

    def _prepare(self, header: Header) -> None:
        """Allocates memory for a new kind of call on all ranks, which raise the same error if one of them cannot."""
        if header.call in _OF_ROWS and self._moves and header.width > 0 and self.ranks.size > 1:
            for route in self._routes[header.call]:
                self._wire.prepare(route, header.width, _DTYPES[header.dtype])

    def _compare(self, call: int, header: Header | None, refusal: Error | None) -> None:
        """Compares a call with those of the other ranks, in a message."""
        told = self._tell(call, header, refusal)
        if refusal is not None:
            raise refusal
        refused = [rank for rank, numbers in enumerate(told) if numbers[0]]
        if refused:
            raise UsageError(f"{rank_list(refused)} refused the operand of {_CALLS[call]}; see the error there")
        headers = [Header(*numbers[1:]) for numbers in told]
        if len(set(headers)) > 1:
            who = {one: [rank for rank, other in enumerate(headers) if other == one] for one in headers}
            raise UsageError(
                "the calls of the ranks differ: "
                + "; ".join(f"{rank_list(ranks)}: {one}" for one, ranks in list(who.items())[:4])
            )
        if call != COLLECT and headers[0] not in self._agreed:
            self._prepare(headers[0])
            self._agreed.add(headers[0])

    def _tell(self, call: int, header: Header | None, refusal: Error | None) -> list[list[int]]:
        """Returns the calls of all ranks. The others may be in the exchange of a call that was compared before: a
        notice stops them. A rank that refuses its operand waits for them a few seconds at most."""
        end = math.inf
        self._compared = self._calls
        if self._agreed and self.check == "first" and self._notices is not None:
            end = time.monotonic() + _REFUSAL_SECONDS
            text = _CALLS[call] if refusal is not None else str(header)
            self._notices.announce(Notice(self._calls, self.ranks.rank, text, refusal is not None))

        def look() -> None:
            self.look()
            if refusal is not None and time.monotonic() > end:
                raise refusal

        try:
            return self.ranks.numbers([int(refusal is not None), *(header or Header(0, 0, 0, 0))], look)
        except Error as error:
            self._stop(str(error if refusal is None else refusal))
            raise error if refusal is None else refusal from error

    def _stop(self, text: str) -> None:
        """Makes no further exchanges, and ends those of ranks that wait for this one."""
        if not self._stopped:
            self._stopped = text
            self._wire.stop()

    def _raise_fault(self, fault: str) -> NoReturn:
        """Raises the error of an exchange that has failed on the device: that of a notice, or IoError."""
        self.look()
        if not self._stopped:
            self._stop(fault)

        def fail() -> NoReturn:
            raise RuntimeError(fault)

        self.ranks.guarded("the exchange of rows", fail)
        raise InternalError(fault)

    def look(self) -> None:
        """Raises UsageError if another rank has made a different call, or refused an operand, since the ranks last
        compared their calls; then no call of this exchange can follow."""
        if self._notices is None:
            return
        notice, alarm = self._notices.look()
        if alarm:
            self._stop(alarm)
            raise UsageError(alarm)
        if notice is None or not self._compared < notice.number <= self._calls:
            return
        other = rank_list([notice.rank])
        if notice.refused:
            text = f"{other} refused the operand of {notice.text}; see the error there"
        else:
            own = f"{rank_list([self.ranks.rank])}: {self._last}; " if notice.number == self._calls else ""
            text = f"the calls of the ranks differ: {own}{other}: {notice.text}"
        self._notices.ring(text)
        self._stop(text)
        raise UsageError(text)

    def synchronize(self) -> None:
        """Waits for the current stream, see `DistSparseMatrix.synchronize`."""
        if self.device.type == "cuda":
            done = torch.cuda.Event()
            done.record(torch.cuda.current_stream(self.device))
            self._wait_for(done)
        if fault := self._wire.fault():
            self._raise_fault(fault)
        self.look()

    def _limit_queue(self) -> None:
        """Limits the calls that the device has not begun to _AHEAD."""
        if torch.cuda.is_current_stream_capturing():
            return
        event = self._events[self._calls % _AHEAD // _GROUP]
        if not event.query():
            self._wait_for(event)
        event.record(torch.cuda.current_stream(self.device))

    def _wait_for(self, done: torch.cuda.Event) -> None:
        """Waits for the device, and raises errors of other ranks meanwhile."""

        def poll() -> None:
            end = time.monotonic() + self.ranks.seconds
            why = f"its work has not finished after {self.ranks.seconds:g} s"
            exited: list[int] = []
            while not done.query():
                if self._notices is not None and self._notices.due():
                    self.look()
                if not exited and (exited := self.ranks.exited()):
                    end, why = min(end, time.monotonic() + _EXITED_SECONDS), f"{rank_list(exited)} exited"
                if time.monotonic() > end:
                    raise RuntimeError(why)
                time.sleep(1e-4)

        try:
            self.ranks.guarded("the wait for the device", poll)
        except Error as error:
            self._stop(str(error))
            raise

    def fetch(self, x: Tensor) -> Pending:
        """Starts to receive rows from other ranks: x [owned, n]; the result is [needed, n]."""
        return self._begin(self._forward, x)

    def channel(self, x: Tensor) -> Any:
        """Returns the memory for `fetch` of x that the library can use together with products, or None."""
        return self._wire.channel(self._forward, x.shape[1], x.dtype) if self._moves else None

    def give_back(self, r: Tensor) -> Pending:
        """Sends contributions back to the owners of their rows. r [needed, n] contributes to rows of other ranks;
        the result [sent rows, n] contributes to rows `send_rows`, ordered by sender."""
        return self._begin(self._backward, r)

    def add(self, out: Tensor, arrived: Tensor) -> None:
        """Adds received gradients to rows of out [owned, n] in the order of senders, which makes bits reproducible;
        each sender has a row once."""
        senders = zip(arrived.split(self.sent_counts), self.send_rows.split(self.sent_counts), strict=True)
        for rows, places in senders:
            if places.numel() > 0:
                out.index_add_(0, places, rows)

    def sum_over_ranks(self, numbers: Tensor) -> Tensor:
        """Returns the sums over all ranks of a tensor [n]."""
        sums = numbers.to(self._wire.place, copy=True)
        self.ranks.guarded("add_up", lambda: dist.all_reduce(sums, group=self.ranks.group))
        return sums.to(self.device)

    def _begin(self, route: Route, x: Tensor) -> Pending:
        n = x.shape[1]
        if self.ranks.size == 1 or n == 0 or not self._moves:
            return Arrived(x.new_empty((sum(route.received), n)))
        if self.unfinished is not None:
            self.unfinished.settle()
        pending = self._wire.begin(route, x)
        self.bytes_sent += sum(route.sent) * n * x.element_size()
        return pending
