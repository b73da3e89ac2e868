"""Processes that share a matrix, and their small messages, which are in host memory so that they do not wait for a
device. An error in one process is raised in all."""

from __future__ import annotations

import json
import os
import select
import socket
import time
import weakref
import zlib
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar, cast

import torch
import torch.distributed as dist
from torch import Tensor

from ...errors import DeviceError, Error, InternalError, IoError, UsageError, error_of

Result = TypeVar("Result")

_RECORD_BYTES = 4096
_TEXT_BYTES = 3072
# Exceptions of other packages, and the errors that all ranks raise for them; others become InternalError.
_MEANINGS: tuple[tuple[type[Exception], type[Error]], ...] = (
    (MemoryError, IoError),
    (OSError, IoError),
    (torch.cuda.OutOfMemoryError, DeviceError),
)
_LOOK = timedelta(milliseconds=50)
# Groups for small messages, by group. Torch owns both.
_controls: weakref.WeakKeyDictionary[Any, weakref.ref[Any]] = weakref.WeakKeyDictionary()
# Time limit for the exchange of failures among the ranks that found one.
_ROLL_CALL_SECONDS = 5.0


class Ranks:
    """The ranks of a process group (None: all). `rank` is this one's, `size` how many there are.

    Small messages have a gloo group of the same ranks: gloo ends a process that receives a message instead of rows.
    """

    def __init__(self, group: dist.ProcessGroup | None = None) -> None:
        if not dist.is_available() or not dist.is_initialized():
            raise UsageError(
                "torch.distributed is not initialized; start the processes with torchrun, and call "
                "torch.distributed.init_process_group()"
            )
        members: Any = dist.group.WORLD if group is None else group
        self.rank, self.size = dist.get_rank(members), dist.get_world_size(members)
        if self.rank < 0:
            raise UsageError("this process is not in the process group of the matrix")
        backends = dist.get_backend_config(members).lower().split(",")
        self.backends = dict(pair.split(":", 1) for pair in backends if ":" in pair)
        control = _control_group(members)
        self.seconds: float = _timeout(members).total_seconds()
        # torch owns groups: a process that keeps one of gloo beyond destroy_process_group aborts when it ends.
        self._group, self._control = weakref.ref(members), weakref.ref(control)
        self._failures = 0
        self._processes = _Processes(self.numbers(_Processes.own()))

    @property
    def group(self) -> Any:
        """The group through which rows go."""
        return _alive(self._group)

    @property
    def control(self) -> Any:
        """The group for small messages."""
        return _alive(self._control)

    def exited(self) -> list[int]:
        """Returns the ranks on this host whose processes have exited."""
        return self._processes.exited()

    @property
    def store(self) -> Any:
        """The store of the group for small messages."""
        return self.control.get_group_store()

    def numbers(self, own: Sequence[int], look: Callable[[], None] | None = None) -> list[list[int]]:
        """Returns the integers of every rank; all ranks pass the same number of them. See `finish` for `look`."""
        told: list[list[int]] = self._tell(torch.tensor(own, dtype=torch.int64, device="cpu"), look).tolist()
        return told

    def _records(self, own: bytes) -> list[dict[str, Any]]:
        """The records of all ranks, JSON in at most 4 KiB."""
        mine = torch.zeros(_RECORD_BYTES, dtype=torch.uint8, device="cpu")
        mine[: len(own)] = torch.tensor(list(own), dtype=torch.uint8, device="cpu")
        return [json.loads(bytes(of_rank).rstrip(b"\0")) for of_rank in self._tell(mine).tolist()]

    def _tell(self, mine: Tensor, look: Callable[[], None] | None = None) -> Tensor:
        """[size, k]: the k numbers of every rank. Each sends to each: in a ring, as all_gather has it, only the
        neighbours of a rank that ended would see it."""
        leaving = mine.expand(self.size, -1).contiguous()
        arrived = torch.empty_like(leaving)
        work: Any = None

        def send() -> None:
            nonlocal work
            work = dist.all_to_all_single(arrived, leaving, group=self.control, async_op=True)

        self.guarded("a message", send)
        self.finish("a message", work, look)
        return arrived

    def finish(self, what: str, work: Any, look: Callable[[], None] | None = None) -> None:
        """Waits for communication through host memory. While it lasts, calls `look`, which may raise, every 50 ms."""

        def wait() -> None:
            if look is None:
                work.wait()
                return
            while True:
                try:
                    work.wait(_LOOK)
                    return
                except RuntimeError:
                    failed = work.is_completed()  # otherwise only this wait has ended
                    look()  # a rank that stopped says why before it exits
                    if failed:
                        work.wait()
                        return

        self.guarded(what, wait)

    def attempt(
        self, make: Callable[[], Result], describe: Callable[[Result], dict[str, Any]]
    ) -> tuple[Result, list[dict[str, Any]]]:
        """Returns the result of `make`, once it has succeeded in every rank, and the record of each rank: at most
        4 KiB of JSON. If it fails in any rank, all ranks raise that error, prefixed with the rank; an exception
        that is neither sptile's nor the system's becomes an InternalError."""
        made: Result | None = None
        cause: Exception | None = None
        try:
            made = make()
            record = _encoded({"status": 0, **describe(made)})
        except Exception as error:
            ours = as_error(error)
            cause, record = error, _encoded({"status": ours.status, "text": _cut(str(ours), _TEXT_BYTES)})
        records = self._records(record)
        failed = [number for number, one in enumerate(records) if one["status"] != 0]
        if failed:
            texts = [f"rank {number} of {self.size}: {records[number]['text']}" for number in failed[:4]]
            more = f"; and {len(failed) - 4} more ranks" if len(failed) > 4 else ""
            raise error_of(records[failed[0]]["status"], "; ".join(texts) + more) from cause
        return cast(Result, made), records

    def guarded(self, what: str, communicate: Callable[[], Any]) -> None:
        """Communicates; IoError names the ranks that are no longer there."""
        try:
            communicate()
        except Error:
            raise
        except RuntimeError as error:
            first = (str(error).splitlines() or [""])[0]
            raise IoError(
                f"rank {self.rank} of {self.size}: {what} failed: {self._missing()}. {first}"
            ) from error

    def _missing(self) -> str:
        """Returns the ranks that do not answer a roll call through the store of the group, which needs no connection
        between ranks."""
        self._failures += 1
        try:
            store = self.store
            keys = [f"sptile/failed/{self._failures}/{rank}" for rank in range(self.size)]
            store.set(keys[self.rank], "here")
            end = time.monotonic() + _ROLL_CALL_SECONDS
            missing = list(range(self.size))
            while missing and time.monotonic() < end:
                missing = [rank for rank in missing if not store.check([keys[rank]])]
                time.sleep(0.05 if missing else 0)
        except (RuntimeError, AttributeError):
            return "the store of the group does not respond; its process, usually rank 0, has exited"
        if not missing:
            return "all ranks respond, but their calls differ"
        return f"no response from {rank_list(missing)}; it exited, hangs or makes another call"


class _Processes:
    """The processes of ranks that this one can watch: those of its host and its namespace of process ids."""

    def __init__(self, told: list[list[int]]) -> None:
        self._poll, self._ranks = select.poll(), {}
        for rank, (process, *place) in enumerate(told):
            if place != self.own()[1:] or process == os.getpid():
                continue
            try:
                descriptor = os.pidfd_open(process)
            except (AttributeError, OSError):
                continue  # not Linux, or not allowed: the time-out of the group remains
            self._ranks[descriptor] = rank
            self._poll.register(descriptor, select.POLLIN)
        weakref.finalize(self, _close, list(self._ranks))

    @staticmethod
    def own() -> list[int]:
        """Returns the id of this process, and its host and namespace."""
        try:
            namespace = os.stat("/proc/self/ns/pid").st_ino
        except OSError:
            namespace = 0
        return [os.getpid(), zlib.crc32(host().encode()), namespace]

    def exited(self) -> list[int]:
        return sorted(self._ranks[descriptor] for descriptor, _ in self._poll.poll(0))


def _close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def host() -> str:
    """Identifies the running system."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return socket.gethostname()


def as_error(error: Exception) -> Error:
    """The error of sptile that all ranks raise for an exception of one."""
    if isinstance(error, Error):
        return error
    kind = next((ours for theirs, ours in _MEANINGS if isinstance(error, theirs)), InternalError)
    return kind(f"{type(error).__name__}: {error}".removesuffix(": "))


def _encoded(record: dict[str, Any]) -> bytes:
    """A record as ASCII; InternalError of one that is too large."""
    text = json.dumps(record).encode("ascii")
    if len(text) > _RECORD_BYTES:
        raise InternalError(f"a record of {len(text)} bytes; at most {_RECORD_BYTES} are sent")
    return text


def _cut(text: str, most: int) -> str:
    """Returns the longest prefix of the text that takes at most `most` bytes as JSON; a letter takes up to 12."""
    text = text[:most]
    while (excess := len(json.dumps(text)) - 2 - most) > 0:
        text = text[: -max(1, excess // 12)]
    return text


def _timeout(members: Any) -> timedelta:
    """Returns the time-out of a group."""
    device = torch.device(dist.get_backend_config(members).split(":")[0])
    found = getattr(getattr(members._get_backend(device), "options", None), "_timeout", None)
    return found if isinstance(found, timedelta) else dist.distributed_c10d.default_pg_timeout


def _control_group(members: Any) -> Any:
    """Returns a gloo group of the same ranks with the same time-out, made once for each group."""
    known = _controls.get(members)
    control = None if known is None else known()
    if control is None:
        control = dist.new_group(
            dist.get_process_group_ranks(members),
            timeout=_timeout(members),
            backend="gloo",
            use_local_synchronization=True,
        )
        _controls[members] = weakref.ref(control)
    return control


def _alive(reference: weakref.ref[Any]) -> Any:
    group = reference()
    if group is None:
        raise UsageError(
            "the process group of the matrix was destroyed; open the partition again with another group"
        )
    return group


def rank_list(ranks: Sequence[int]) -> str:
    """ "rank 2", "ranks 1, 3" and so on, for messages."""
    shown = ", ".join(map(str, ranks[:8])) + (" and others" if len(ranks) > 8 else "")
    return f"rank {shown}" if len(ranks) == 1 else f"ranks {shown}"


def as_bytes(x: Tensor) -> Tensor:
    """The bytes of each row of x [rows, n], which every backend can send."""
    return x.contiguous().view(torch.uint8)
