"""Ways of rows between ranks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from typing import Any, NamedTuple, Protocol

import torch
import torch.distributed as dist
from torch import Tensor

from ...errors import Error
from .ranks import Ranks, as_bytes


class Route(NamedTuple):
    """Rows from all ranks to all ranks, ordered by rank. `rows` are the rows to gather from an operand, or None if it
    consists of the sent rows."""

    name: str
    sent: list[int]
    received: list[int]
    rows: Tensor | None


class Pending(Protocol):
    """Rows in flight."""

    def wait(self) -> Tensor:
        """Returns the received rows [received, n], which the next exchange of the same route and width overwrites. On
        a CUDA device, its stream waits, not the host."""


class Wire(Protocol):
    """One way of rows between ranks."""

    name: str
    place: torch.device  # of tensors that torch.distributed sends

    def prepare(self, route: Route, n: int, dtype: torch.dtype) -> None:
        """Allocates memory for rows of n columns, in a call of all ranks, which raise the same error."""

    def begin(self, route: Route, x: Tensor) -> Pending:
        """Starts to send rows of x [rows, n]; the route and width are prepared."""

    def channel(self, route: Route, n: int, dtype: torch.dtype) -> Any:
        """Returns the memory of an exchange that the library can run together with products, or None."""

    def fault(self) -> str:
        """Describes the failure of an earlier exchange that the host has not waited for, "" if there is none."""

    def stop(self) -> None:
        """Ends the exchanges of the other ranks if they would wait for this rank, which makes no further ones."""


class Arrived:
    """Rows that are there."""

    def __init__(self, rows: Tensor) -> None:
        self._rows = rows

    def wait(self) -> Tensor:
        return self._rows


class Collective:
    """`all_to_all_single` of torch.distributed: from device to device if `direct`, otherwise through host memory. On a
    CUDA device, rows are gathered and sent on a side stream.

    `look` is called every 50 ms while the host waits; it raises the error of another rank.
    """

    def __init__(self, ranks: Ranks, device: torch.device, direct: bool, look: Callable[[], None]) -> None:
        self.name = ranks.backends[device.type] if direct else "gloo"
        self.place = device if direct else torch.device("cpu")
        self.ranks, self.device, self.look = ranks, device, look
        self.side = SideStream(device)
        self._channels: dict[tuple[str, int, torch.dtype], _Channel] = {}

    def prepare(self, route: Route, n: int, dtype: torch.dtype) -> None:
        key = route.name, n, dtype
        if key not in self._channels:
            self._channels[key], _ = self.ranks.attempt(lambda: _Channel(self, route, n, dtype), lambda _: {})

    def begin(self, route: Route, x: Tensor) -> Pending:
        return self._channels[route.name, x.shape[1], x.dtype].begin(x)

    def channel(self, _route: Route, _n: int, _dtype: torch.dtype) -> None:
        return None

    def fault(self) -> str:
        return ""  # torch.distributed raises it

    def stop(self) -> None:
        """Ends exchanges on the device, in which this rank would wait for others until the time-out, as would every call
        that releases device memory. Rows of an unknown width cannot be sent."""
        if self.place.type == "cuda":
            with suppress(Error, RuntimeError, AttributeError):  # no group any more; older torch has no `abort`
                self.ranks.group._get_backend(self.place).abort()


class _Channel:
    """Memory for rows of one route, width and type, of which one exchange is in flight at a time."""

    def __init__(self, wire: Collective, route: Route, n: int, dtype: torch.dtype) -> None:
        self._wire, self._route = wire, route
        sent = sum(route.sent), n
        self._arrived = torch.empty((sum(route.received), n), dtype=dtype, device=wire.place)
        self._arrived_bytes = as_bytes(self._arrived)
        # Operands are sent as they are if no row is to be gathered, and no device to be read.
        self._gathered = None if route.rows is None else torch.empty(sent, dtype=dtype, device=wire.device)
        self._copied = None if wire.place == wire.device else torch.empty(sent, dtype=dtype, device=wire.place)
        self._leaving: Tensor | None = None
        self._work: Any = None
        self._reader: Any = None  # the stream that reads the received rows

    def begin(self, x: Tensor) -> Pending:
        route, wire = self._route, self._wire
        with wire.side.begin(self._reader):
            leaving = x if route.rows is None else torch.index_select(x, 0, route.rows, out=self._gathered)
            self._leaving = leaving if self._copied is None else self._copied.copy_(leaving)
            wire.ranks.guarded("the exchange of rows", partial(self._send, self._leaving))
        return self

    def _send(self, leaving: Tensor) -> None:
        self._work = dist.all_to_all_single(
            self._arrived_bytes,
            as_bytes(leaving),
            self._route.received,
            self._route.sent,
            group=self._wire.ranks.group,
            async_op=True,
        )

    def wait(self) -> Tensor:
        wire = self._wire
        if wire.place.type == "cpu":
            wire.ranks.finish("the exchange of rows", self._work, wire.look)
        else:
            wire.ranks.guarded("the exchange of rows", self._work.wait)
        self._reader, self._leaving = wire.side.reader(), None
        return self._arrived.to(wire.device)


class SideStream:
    """A stream of a CUDA device for exchanges, or nothing on a CPU."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        # Kernels of an exchange are short, and other ranks wait for them.
        self.stream = torch.cuda.Stream(device, priority=-1) if device.type == "cuda" else None
        self._event = torch.cuda.Event() if device.type == "cuda" else None

    def follow(self, reader: Any) -> Any:
        """Makes the side stream wait for the current stream, and for `reader`, a stream that reads memory to be
        overwritten, or None. Returns the side stream."""
        if self.stream is not None:
            self._order(torch.cuda.current_stream(self._device), self.stream)
            self.release(reader)
        return self.stream

    def release(self, reader: Any) -> None:
        """Makes the side stream wait for `reader`, unless it is the current stream or None."""
        # Work before the capture of a graph has ended.
        if reader is not None and reader != self.reader() and not torch.cuda.is_current_stream_capturing():
            self._order(reader, self.stream)

    def begin(self, reader: Any) -> AbstractContextManager[Any]:
        """Makes the side stream current, see `follow`."""
        stream = self.follow(reader)
        return nullcontext() if stream is None else torch.cuda.stream(stream)

    def lead(self) -> Any:
        """Makes the current stream wait for the side stream. Returns the current stream, see `reader`."""
        if self.stream is not None:
            self._order(self.stream, torch.cuda.current_stream(self._device))
        return self.reader()

    def handles(self) -> tuple[int | None, int | None]:
        """Returns the addresses of the stream and of the event that orders it, once the event was recorded."""
        return (None, None) if self.stream is None else (self.stream.cuda_stream, self._event.cuda_event)  # type: ignore[union-attr]

    def _order(self, first: Any, second: Any) -> None:
        """Makes a stream wait for the present work of another. `Stream.wait_stream` would make an event each time."""
        self._event.record(first)  # type: ignore[union-attr]
        second.wait_event(self._event)

    def reader(self) -> Any:
        """Returns the current stream, which reads received rows from now on."""
        return None if self.stream is None else torch.cuda.current_stream(self._device)
