"""Runs a function in several processes that are the ranks of a group, and returns what each returned or raised.

A rank that makes no progress for 20 s (SPTILE_TEST_WATCHDOG) has its rank, step and stack printed, once per step."""

from __future__ import annotations

import faulthandler
import multiprocessing
import multiprocessing.connection
import os
import pickle
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

# A process that has imported everything is the parent of all ranks: they begin in milliseconds.
_server: Any = multiprocessing.get_context("forkserver")
_server.set_forkserver_preload(
    ["torch", "torch.distributed", "numpy", "scipy.sparse", "pytest", "hypothesis"]
)


class Outcome(NamedTuple):
    """What a rank gave, or the class and the message of what it raised, or how its process ended."""

    value: Any = None
    raised: str = ""
    message: str = ""
    exit: int | None = 0


def semaphore() -> Any:
    """A semaphore of value 0 that run_ranks can pass to the ranks."""
    return _server.Semaphore(0)


def watchdog_seconds() -> float:
    """Limit of a step without progress."""
    return float(os.environ.get("SPTILE_TEST_WATCHDOG", "20"))


class Steps:
    """The current step of a rank, and its stack once the step has taken too long, in a file that run_ranks reads. The
    stack is written without Python, which a rank may not execute at that time."""

    def __init__(self, path: Path, rank: int, seconds: float) -> None:
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115: open until the process ends
        self._rank, self._seconds = rank, seconds

    def begin(self, name: str) -> None:
        """Ends the previous step."""
        faulthandler.cancel_dump_traceback_later()
        self._file.seek(0)
        self._file.truncate()
        header = f"rank {self._rank}: no progress for {self._seconds:g} s in step: {name}; stacks:\n"
        self._file.write(header.encode())
        faulthandler.dump_traceback_later(self._seconds, file=self._file)


_steps: Steps | None = None  # of a rank


def step(name: str) -> None:
    """Begins a step of this rank. Outside a rank it has no effect."""
    if _steps is not None:
        _steps.begin(name)


class _Reports:
    """Prints stacks that ranks have written, once each."""

    def __init__(self, files: list[Path]) -> None:
        self._last = dict.fromkeys(files, b"")
        self._printed: set[bytes] = set()

    def print_new(self) -> None:
        for file, last in self._last.items():
            self._last[file] = text = file.read_bytes() if file.exists() else b""
            header, _, stack = text.partition(b"\n")
            if stack and text == last and header not in self._printed:  # it is complete
                self._printed.add(header)
                print(text.decode(errors="replace"), end="", file=sys.stderr, flush=True)


def run_ranks(
    work: Callable[..., Any],
    *arguments: Any,
    size: int = 4,
    backend: str = "gloo",
    tcp: bool = False,
    group_seconds: float = 30,
    wait_seconds: float = 120,
    ends: bool = True,
) -> list[Outcome]:
    """Runs work(rank, *arguments) in each of `size` processes; `work` is a function of a module. Outcome.exit is None
    for a process that did not end in time. The store of the group is a file, or with `tcp` in rank 0. With NCCL in
    `backend`, rank p uses CUDA device p. Without `ends`, a rank exits without the others, whose group may be broken."""
    with tempfile.TemporaryDirectory() as folder:
        method = f"file://{folder}/store"
        if tcp:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                method = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        processes = [
            _server.Process(
                target=_rank,
                args=(work, rank, size, backend, method, group_seconds, watchdog_seconds(), ends, folder, arguments),
                daemon=True,
            )
            for rank in range(size)
        ]
        for process in processes:
            process.start()
        reports = _Reports([_step_file(folder, rank) for rank in range(size)])
        end = time.monotonic() + wait_seconds
        while alive := [process.sentinel for process in processes if process.exitcode is None]:
            left = end - time.monotonic()
            if left <= 0:
                break
            multiprocessing.connection.wait(alive, min(left, 0.5))
            reports.print_new()
        late = [process.exitcode is None for process in processes]
        for process in processes:
            process.kill()
            process.join()
        outcomes = []
        for rank, process in enumerate(processes):
            file = Path(folder) / f"outcome-{rank}"
            if late[rank]:
                outcomes.append(Outcome(exit=None))
            elif file.exists():
                outcomes.append(pickle.loads(file.read_bytes()))
            else:
                outcomes.append(Outcome(exit=process.exitcode))
        return outcomes


def values(outcomes: list[Outcome]) -> list[Any]:
    """What the ranks gave; none of them may have failed."""
    assert all(one.exit == 0 and not one.raised for one in outcomes), [one[1:] for one in outcomes]
    return [one.value for one in outcomes]


def _step_file(folder: str, rank: int) -> Path:
    return Path(folder) / f"step-{rank}"


def _rank(
    work: Callable[..., Any],
    rank: int,
    size: int,
    backend: str,
    method: str,
    group_seconds: float,
    step_seconds: float,
    ends: bool,
    folder: str,
    arguments: tuple[Any, ...],
) -> None:
    global _steps
    import torch
    import torch.distributed as dist

    _steps = Steps(_step_file(folder, rank), rank, step_seconds)
    step("init_process_group")
    torch.set_num_threads(1)
    if "nccl" in backend:
        torch.cuda.set_device(rank)
    dist.init_process_group(
        backend, init_method=method, rank=rank, world_size=size, timeout=timedelta(seconds=group_seconds)
    )
    step(work.__name__)
    if "nccl" in backend:  # the matrices of tests are small: one device is faster
        from sptile.torch.distributed import DistSparseMatrix

        DistSparseMatrix.__init__.__kwdefaults__["never_slower"] = None
    try:
        outcome = Outcome(work(rank, *arguments))
    except Exception as error:  # it is what the test wants to see
        outcome = Outcome(raised=type(error).__name__, message=str(error))
    unfinished = Path(folder) / f"unfinished-{rank}"
    unfinished.write_bytes(pickle.dumps(outcome))
    os.replace(unfinished, Path(folder) / f"outcome-{rank}")
    if ends and not outcome.raised:
        step("destroy_process_group")
        # By gloo if there is one: NCCL may have been stopped.
        dist.all_reduce(torch.zeros(1, device="cpu" if backend != "nccl" else "cuda"))
        dist.destroy_process_group()
    os._exit(0)
