"""Microseconds of a product on several devices, by NCCL and by writing into the memory of the other devices, as CSV.

    sptile partition graph.mtx --parts 2 -o parts
    torchrun --nproc-per-node 2 tools/bench/exchange.py parts [-n 128] [--dtype float32] [--format auto] [--runs 50]

Operands are random, and results are compared with those of one device before anything is timed. Each time is that of
the slowest rank. Columns: `step` is a product, `captured` the same replayed from a CUDA graph, `host` and `host_captured`
the times of calls that are not waited for, `exchange` the exchange alone, `local` and `halo` the two products alone; `wire`
"one" is the entire matrix on one device.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from sptile.bundle import whole_bundle
from sptile.part import open_part
from sptile.torch import SparseMatrix
from sptile.torch.distributed import DistSparseMatrix

COLUMNS = ("parts", "n", "dtype", "wire", "step", "captured", "host", "host_captured", "exchange", "local", "halo")
COLUMNS += ("owned", "halo_rows", "bytes_sent", "error")


def device_time(run: Callable[[], Any], runs: int) -> float:
    """Microseconds of a run: the median of 5 groups."""
    for _ in range(5):
        run()
    times = []
    for _ in range(5):
        torch.cuda.synchronize()
        dist.barrier()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(runs):
            run()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / runs)
    return sorted(times)[2]


def host_time(run: Callable[[], Any], runs: int = 20) -> float:
    """Microseconds that the host spends on a call: the minimum of 10 groups, which fit in the queue of the device."""
    times = []
    for _ in range(10):
        torch.cuda.synchronize()
        dist.barrier()
        begin = time.perf_counter()
        for _ in range(runs):
            run()
        times.append((time.perf_counter() - begin) * 1e6 / runs)
    return min(times)


def slowest(times: list[float]) -> list[float]:
    found = torch.tensor(times, device="cuda", dtype=torch.float64)
    dist.all_reduce(found, op=dist.ReduceOp.MAX)
    return [round(one, 2) for one in found.tolist()]


def whole_matrix(path: str, format: str) -> SparseMatrix:
    part = open_part(Path(path) / "part-0000.h5")
    return SparseMatrix.from_bundle(whole_bundle(path, part._handle), format=format).to("cuda")


def wire_row(
    path: str, wire: str, options: argparse.Namespace, full: torch.Tensor, expected: torch.Tensor | None
) -> dict[str, Any]:
    """Measures one wire, after its result has been compared with `expected` on rank 0."""
    a = DistSparseMatrix(path, format=options.format, wire=wire)
    x = a.take(full)
    with torch.no_grad():
        collected = a.collect(a @ x)
        error = 0.0
        if expected is not None:
            error = float((collected - expected).abs().max() / expected.abs().max())
            if not error < 1e-2:
                raise SystemExit(f"{wire}: the results differ from those of one device by {error}")
        before = a.bytes_sent
        a @ x
        sent, exchange = a.bytes_sent - before, a._exchange
        rows, bound = a.fetch(x), a.bind(x, graph=True)
        times = slowest(
            [
                device_time(lambda: a @ x, options.runs),
                device_time(bound, options.runs),
                host_time(lambda: a @ x),
                host_time(bound),
                device_time(lambda: exchange.fetch(x).wait(), options.runs),
                device_time(lambda: a.local @ x, options.runs),
                device_time(lambda: a.halo @ rows, options.runs),
                a.owned,
                a.needed,
                sent,
                error,
            ]
        )
        a.synchronize()
    return dict(zip(COLUMNS[3:], [a.wire, *times], strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", help="directories of `sptile partition`")
    parser.add_argument("-n", type=int, default=128, help="columns [default: 128]")
    parser.add_argument("--dtype", default="float32", help="type of operands [default: float32]")
    parser.add_argument("--format", default="auto", help="storage format [default: auto]")
    parser.add_argument("--runs", type=int, default=50, help="runs of a timed group [default: 50]")
    options = parser.parse_args()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("cpu:gloo,cuda:nccl")
    writer = csv.DictWriter(sys.stdout, COLUMNS, restval="", lineterminator="\n")
    if dist.get_rank() == 0:
        writer.writeheader()
    for path in options.parts:
        rows = DistSparseMatrix(path, wire="group").shape[0]
        generator = torch.Generator().manual_seed(1)
        full = (torch.rand(rows, options.n, generator=generator) - 0.5).to(getattr(torch, options.dtype))
        found, expected = [], None
        if dist.get_rank() == 0:
            whole = whole_matrix(path, options.format)
            x = full.cuda()
            expected = (whole @ x).cpu()
        # The other devices are idle, but take part in the barriers.
        time_one = device_time((lambda: whole @ x) if dist.get_rank() == 0 else lambda: None, options.runs)
        found.append({"wire": "one", "step": slowest([time_one])[0], "owned": rows})
        if dist.get_rank() == 0:
            del whole, x
        torch.cuda.empty_cache()
        found += [wire_row(path, wire, options, full, expected) for wire in ("group", "peers")]
        if dist.get_rank() == 0:
            for row in found:
                writer.writerow({"parts": Path(path).name, "n": options.n, "dtype": options.dtype, **row})
            sys.stdout.flush()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
