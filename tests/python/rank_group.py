"""Runs a function in several processes that are the ranks of a gloo group, and says what came of each."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import socket
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


def run_ranks(
    work: Callable[..., Any],
    *arguments: Any,
    size: int = 4,
    tcp: bool = False,
    group_seconds: float = 30,
    wait_seconds: float = 120,
) -> list[Outcome]:
    """work(rank, *arguments) in each of `size` processes; `work` is a function of a module. Outcome.exit is None
    where a process did not end in time. The store of the group is a file, or with `tcp` rank 0's."""
    with tempfile.TemporaryDirectory() as folder:
        method = f"file://{folder}/store"
        if tcp:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                method = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        processes = [
            _server.Process(
                target=_rank, args=(work, rank, size, method, group_seconds, folder, arguments), daemon=True
            )
            for rank in range(size)
        ]
        for process in processes:
            process.start()
        end = time.monotonic() + wait_seconds
        for process in processes:
            process.join(max(0.0, end - time.monotonic()))
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


def _rank(
    work: Callable[..., Any],
    rank: int,
    size: int,
    method: str,
    group_seconds: float,
    folder: str,
    arguments: tuple[Any, ...],
) -> None:
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=method, rank=rank, world_size=size, timeout=timedelta(seconds=group_seconds)
    )
    try:
        outcome = Outcome(work(rank, *arguments))
    except Exception as error:  # it is what the test wants to see
        outcome = Outcome(raised=type(error).__name__, message=str(error))
    unfinished = Path(folder) / f"unfinished-{rank}"
    unfinished.write_bytes(pickle.dumps(outcome))
    os.replace(unfinished, Path(folder) / f"outcome-{rank}")
    if not outcome.raised:
        dist.barrier()
        dist.destroy_process_group()
    os._exit(0)
