"""Products by one call of the library, which receives rows of other ranks while it multiplies the own ones."""

from __future__ import annotations

from ctypes import byref, c_int, c_void_p, pointer
from typing import Any

from torch import Tensor

from ... import _library as c
from ..._calls import Call
from ..handle import Handle, _current_stream, _empty_like, capturing, packed_address, packed_key
from ..pattern import untraced
from .peers import Channel

# Without any conversion, for structs and None.
_run_distributed = c.lib["sptile_run_distributed"]
_run_distributed.restype = c_int


class Step:
    """Products A x by a `Channel`, for contiguous x [owned, n] like one that was multiplied before. `boundary` is the
    matrix of the last rows, or None if the rank needs no rows of others."""

    def __init__(self, local: Handle, boundary: Handle | None, channel: Channel, x: Tensor) -> None:
        key = packed_key(x)
        n = x.shape[1]
        self._channel, self._exchange = channel, channel.exchange
        self._index = x.get_device() if x.is_cuda else None
        self._row_bytes = n * x.element_size()
        plans = [None if one is None else one.plan("spmm", n, *key[1:]) for one in (local, boundary)]
        self._plans = plans
        self._call, boundary_call = Call(2, n), Call(2, n)
        self._tail, self._tail_bytes = boundary_call.second, 0
        if boundary is not None:
            boundary_call.first.data, boundary_call.operands.beta = channel.arrived.data_ptr(), 1.0
            self._tail_bytes = (x.shape[0] - boundary.pattern.rows) * self._row_bytes
        side, event = channel.handles()
        self._run = c.DistributedRun(
            exchange=pointer(channel.exchange),
            local=plans[0],
            boundary=plans[1],
            local_operands=pointer(self._call.operands),
            boundary_operands=pointer(boundary_call.operands),
            side=side,
            event=event,
        )
        self._reference = byref(self._run)
        # A stream, pointers to the workspaces of both plans or None, and their memory, by number of the stream.
        self._places: dict[int, tuple[Any, ...]] = {}

    def address(self, x: Tensor) -> int:
        """Returns the address of x, of the right shape and type. 0: x needs the checks of other products."""
        return packed_address(x, self._index)

    @untraced
    def run(self, x: Tensor, address: int, out: Tensor | None = None) -> Tensor:
        """Returns the product, in `out` if it is given, which is packed and does not overlap x."""
        if out is None:
            out = _empty_like(x)
        call, exchange = self._call, self._exchange
        stream = None
        if self._index is not None:
            number = _current_stream(self._index)
            place = self._places.get(number) or self._place(number)  # keeps the workspaces of a graph until the run ends
            stream, self._run.local_workspace, self._run.boundary_workspace, _ = place
            self._channel.take(number)
        result = out.data_ptr()
        call.first.data, call.second.data, self._tail.data = address, result, result + self._tail_bytes
        exchange.source, exchange.stride_bytes = address, self._row_bytes
        status = _run_distributed(self._reference, stream)
        if status:
            c.check(status)
        return out

    def _place(self, number: int) -> tuple[Any, ...]:
        found = [plan.workspace(number) if plan is not None else ((None, None), None) for plan in self._plans]
        pointers = [None if reference is None else pointer(reference._obj) for (_, reference), _ in found]
        place = (c_void_p(number), *pointers, [memory for _, memory in found])
        if not capturing():  # a graph has its own workspaces
            self._places[number] = place
        return place
