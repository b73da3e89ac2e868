"""Rows that kernels write into the memory of the other devices of a host."""

from __future__ import annotations

import ctypes
import itertools
from typing import Any

import torch
from torch import Tensor

from ... import _library as c
from ...errors import UnsupportedError
from .ranks import Ranks
from .wires import Pending, Route, SideStream

_WORD = 8
_STATE_WORDS = 4
_ALIGNMENT = 256
_STOPPED_HERE = -(2**31)


class Peers:
    """Exchanges by `sptile_exchange_rows` on a side stream. Each route, width and type has its own memory, words and
    steps, which all ranks allocate in the same call.

    `seconds` is the time-out of an exchange.
    """

    name = "peers"

    def __init__(self, ranks: Ranks, device: torch.device, place: torch.device) -> None:
        self.device, self.place = device, place
        self.ranks, self.seconds = ranks, ranks.seconds
        self.side = SideStream(device)
        self.fault_word = torch.zeros(1, dtype=torch.int32, device="cpu", pin_memory=device.type == "cuda")
        self._fault: Any = self.fault_word.numpy()
        self._channels: dict[tuple[str, int, torch.dtype], Channel] = {}

    def prepare(self, route: Route, n: int, dtype: torch.dtype) -> None:
        key = route.name, n, dtype
        if key not in self._channels:
            self._channels[key] = Channel(self, route, n, dtype)

    def begin(self, route: Route, x: Tensor) -> Pending:
        return self._channels[route.name, x.shape[1], x.dtype].begin(x)

    def channel(self, route: Route, n: int, dtype: torch.dtype) -> Channel | None:
        return self._channels.get((route.name, n, dtype))

    def fault(self) -> str:
        number = int(self._fault[0])
        if number in (0, _STOPPED_HERE):
            return ""
        channel = next(iter(self._channels.values()))
        rank = channel.neighbors[abs(number) - 1]
        return f"rank {rank} stopped" if number < 0 else f"rank {rank} sent no rows for {self.seconds:g} s"

    def stop(self) -> None:
        self._fault[0] = self._fault[0] or _STOPPED_HERE  # ends exchanges that wait for others
        for channel in self._channels.values():
            channel.stop()


class Channel:
    """Memory of one route, width and type: a word for each rank, then the received rows `arrived`. `exchange` is the
    call of the library."""

    def __init__(self, wire: Peers, route: Route, n: int, dtype: torch.dtype) -> None:
        self._wire, self._route, ranks = wire, route, wire.ranks
        row_bytes = n * dtype.itemsize
        words = -(-ranks.size * _WORD // _ALIGNMENT) * _ALIGNMENT
        places = [0, *itertools.accumulate(route.received)]
        sent = [0, *itertools.accumulate(route.sent)]
        # Both ranks of a pair are neighbors, or neither: each waits for the other.
        others = [(ranks.rank + i) % ranks.size for i in range(1, ranks.size)]
        self.neighbors = [q for q in others if route.sent[q] + route.received[q] > 0]

        def allocate() -> Tensor:
            memory = torch.zeros(words + places[-1] * row_bytes, dtype=torch.uint8, device=wire.device)
            if wire.device.type == "cuda":
                torch.cuda.synchronize(wire.device)  # other devices write to it
            return memory

        self._memory, told = ranks.attempt(
            allocate, lambda memory: {"storage": share(memory.untyped_storage()), "places": places}
        )

        def map_others() -> dict[int, Any]:
            return {q: open_shared(told[q]["storage"], wire.device) for q in self.neighbors}

        self._mapped, _ = ranks.attempt(map_others, lambda _: {})
        here = self._memory.data_ptr()
        peers = []
        for q in self.neighbors:
            there = self._mapped[q].data_ptr()
            rows = there + words + told[q]["places"][ranks.rank] * row_bytes
            peers.append([rows, there + ranks.rank * _WORD, here + q * _WORD, sent[q], sent[q + 1]])
        self._peers = torch.tensor(peers, dtype=torch.int64, device=wire.device)
        self._state = torch.zeros(_STATE_WORDS, dtype=torch.int64, device=wire.device)
        self.arrived = self._memory[words:].view(dtype).view(places[-1], n)
        self._leaving: Tensor | None = None
        self._reader: Any = None  # the stream that reads the received rows
        self.exchange = c.RowExchange(
            peers=ctypes.cast(self._peers.data_ptr(), ctypes.POINTER(c.Peer)),
            rows=None if route.rows is None else route.rows.data_ptr(),
            state=self._state.data_ptr(),
            fault=wire.fault_word.data_ptr(),
            row_count=sent[-1],
            row_bytes=row_bytes,
            stride_bytes=row_bytes,
            peer_count=len(peers),
            ordinal=wire.device.index or 0,
        )

    def begin(self, x: Tensor) -> Pending:
        size = x.element_size()
        if x.shape[0] > 0 and (x.stride(0) * size < self.exchange.row_bytes or (x.shape[1] > 1 and x.stride(1) != 1)):
            x = x.contiguous()
        self._leaving = x
        self.exchange.source = x.data_ptr()
        self.exchange.stride_bytes = max(x.stride(0) * size, self.exchange.row_bytes)
        self._run(self._reader)
        return self

    def take(self, stream: int) -> None:
        """Begins a run on the current stream, which reads the received rows from now on."""
        if self._reader is None or self._reader.cuda_stream != stream:
            self._wire.side.release(self._reader)
            self._reader = self._wire.side.reader()

    def handles(self) -> tuple[int | None, int | None]:
        """See `SideStream.handles`."""
        return self._wire.side.handles()

    def _run(self, reader: Any) -> None:
        self.exchange.timeout_ns = int(self._wire.seconds * 1e9)
        stream = self._wire.side.follow(reader)
        c.check(c.lib.sptile_exchange_rows(self.exchange, stream.cuda_stream if stream is not None else None))

    def wait(self) -> Tensor:
        self._reader, self._leaving = self._wire.side.lead(), None
        return self.arrived

    def stop(self) -> None:
        self.exchange.stop = 1
        self._run(None)


def share(storage: Any) -> list[Any]:
    """Describes device memory of this process for the others of the host."""
    _, handle, size, offset, counter, counter_offset, _, _ = storage._share_cuda_()
    return [handle.hex(), size, offset, counter.hex(), counter_offset]


def open_shared(described: list[Any], device: torch.device) -> Any:
    """Maps device memory of another process on `device`."""
    handle, size, offset, counter, counter_offset = described
    try:
        # The event, whose handle is empty, would only order the allocation, which is complete.
        return torch.UntypedStorage._new_shared_cuda(
            device.index, bytes.fromhex(handle), size, offset, bytes.fromhex(counter), counter_offset, b"", False
        )
    except RuntimeError as error:
        first = (str(error).splitlines() or [""])[0]
        raise UnsupportedError(f"{device} cannot map the memory of another device: {first}") from error
