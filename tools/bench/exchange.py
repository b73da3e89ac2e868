"""Microseconds of a product on several devices, by NCCL and by writing into the memory of the other devices, as CSV.

    sptile partition graph.mtx --parts 2 -o parts
    torchrun --nproc-per-node 2 tools/bench/exchange.py parts [-n 128] [--dtype float32] [--format auto] [--runs 50]

Operands are random, and results are compared with those of one device before anything is timed. Each time is that of
the slowest rank. Columns:

    wire             "one": the entire matrix on one device; "all_gather", "all_to_all": cuSPARSE after an exchange of all
                     rows, or of the needed ones, by NCCL
    step, captured   a product, and the same replayed from a CUDA graph
    host, host_captured  the times of calls that are not waited for
    exchange, local, boundary   the exchange and the two products of a step alone
    hidden           part of the exchange that does not lengthen the step: 1 - (step - local - boundary) / exchange
    training         forward and backward
    sddmm, attention with n columns, attention with 4 heads of n / 4
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
from sptile import torch as st
from sptile.torch import SparseMatrix
from sptile.torch import distributed as sd
from sptile.torch.distributed import DistSparseMatrix

COLUMNS = ("parts", "n", "dtype", "wire", "step", "captured", "host", "host_captured", "exchange", "local", "boundary")
COLUMNS += ("training", "sddmm", "attention", "owned", "halo_rows", "bytes_sent", "error", "hidden")
HEADS = 4


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


def training(a: Any, x: torch.Tensor) -> Callable[[], Any]:
    """A product and its gradient."""
    learned, ones = x.clone().requires_grad_(), torch.ones_like(x)
    return lambda: torch.autograd.grad(a @ learned, learned, ones)


def heads(x: torch.Tensor) -> torch.Tensor:
    return x.view(x.shape[0], HEADS, -1)


def checked(what: str, found: torch.Tensor, expected: torch.Tensor) -> float:
    """Returns the error relative to one device; ends the program if it is large."""
    error = float((found - expected).abs().max() / expected.abs().max())
    if not error < 1e-2:
        raise SystemExit(f"{what}: the results differ from those of one device by {error}")
    return error


def total(scores: torch.Tensor) -> torch.Tensor:
    """The sum of squares over all ranks."""
    found = scores.double().square().sum()
    dist.all_reduce(found)
    return found


def wire_row(
    path: str, wire: str, options: argparse.Namespace, full: torch.Tensor, expected: dict[str, torch.Tensor]
) -> dict[str, Any]:
    """Measures one wire, after its results have been compared with those of one device."""
    a = DistSparseMatrix(path, format=options.format, wire=wire, never_slower=None)
    x = a.take(full)
    x4 = heads(x)
    with torch.no_grad():
        error = checked(f"{wire}: product", a @ x, expected["product"][a.rows])
        checked(f"{wire}: attention", sd.attention(a, x4, x4, x4).flatten(1), expected["attention"][a.rows])
        checked(f"{wire}: sddmm", total(sd.sddmm(a, x, x)), expected["sddmm"])
        before = a.bytes_sent
        a @ x
        sent, exchange = a.bytes_sent - before, a._exchange
        rows, bound, boundary = a.fetch(x), a.bind(x, graph=True), a._halves.boundary
        step, captured, alone, local, added, *others = slowest(
            [
                device_time(lambda: a @ x, options.runs),
                device_time(bound, options.runs),
                device_time(lambda: exchange.fetch(x).wait(), options.runs),
                device_time(lambda: a.local @ x, options.runs),
                device_time(lambda: boundary @ rows, options.runs),
                host_time(lambda: a @ x),
                host_time(bound),
                device_time(lambda: sd.sddmm(a, x, x), options.runs),
                device_time(lambda: sd.attention(a, x4, x4, x4), options.runs),
                a.owned,
                a.needed,
                sent,
                error,
            ]
        )
    host, host_captured, sddmm, attention, *counts = others
    (both,) = slowest([device_time(training(a, x), options.runs)])
    a.synchronize()
    times = (step, captured, host, host_captured, alone, local, added, both, sddmm, attention)
    hidden = round(1 - (min(step, captured) - local - added) / alone, 3) if alone > 0 else ""
    return dict(zip(COLUMNS[3:], [a.wire, *times, *counts, hidden], strict=True))


def cusparse_rows(
    path: str, options: argparse.Namespace, full: torch.Tensor, expected: dict[str, torch.Tensor]
) -> list[dict[str, Any]]:
    """Times a product by NCCL and cuSPARSE: after all rows were gathered on all ranks, and after the exchange of the
    needed ones."""
    a = DistSparseMatrix(path, wire="group", never_slower=None)
    x, found = a.take(full), []
    both = torch.sparse_csr_tensor(*csr_of(a.local, a.halo, a.owned), (a.owned, a.owned + a.needed), dtype=x.dtype)
    send, sent, received = a._exchange.send_rows, a._exchange.sent_counts, a._exchange.received_counts
    beside = x.new_empty(a.owned + a.needed, x.shape[1])
    leaving = x.new_empty(len(send), x.shape[1])

    def all_to_all() -> torch.Tensor:
        beside[: a.owned] = x
        torch.index_select(x, 0, send, out=leaving)
        dist.all_to_all_single(beside[a.owned :], leaving, received, sent)
        return both @ beside

    most = int(max(slowest([float(a.owned)])))
    mine = x.new_zeros(most, x.shape[1])
    everything = x.new_empty(most * dist.get_world_size(), x.shape[1])
    places = torch.empty(most * dist.get_world_size(), dtype=torch.int64, device=a.device)
    numbers = torch.full((most,), -1, dtype=torch.int64, device=a.device)
    numbers[: a.owned] = a.rows
    dist.all_gather_into_tensor(places, numbers)
    place = torch.empty(a.shape[0], dtype=torch.int64, device=a.device)
    place[places[places >= 0]] = torch.arange(len(places), device=a.device)[places >= 0]
    ids = a.with_halo(a.rows.double()[:, None])[:, 0].long()
    crow, col, values = csr_of(a.local, a.halo, a.owned)
    column = place[ids[col.long()]].int()
    wide = torch.sparse_csr_tensor(crow, column, values, (a.owned, len(places)), dtype=x.dtype)

    def all_gather() -> torch.Tensor:
        mine[: a.owned] = x
        dist.all_gather_into_tensor(everything, mine)
        return wide @ everything

    with torch.no_grad():
        for wire, run in (("all_to_all", all_to_all), ("all_gather", all_gather)):
            error = checked(wire, run(), expected["product"][a.rows])
            (step,) = slowest([device_time(run, options.runs)])
            found.append({"wire": wire, "step": step, "owned": a.owned, "halo_rows": a.needed, "error": error})
    return found


def csr_of(local: SparseMatrix, halo: SparseMatrix, owned: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns row pointers, columns and values of [local, halo]."""
    parts = (local, 0), (halo, owned)
    row = torch.cat([one.pattern.row() for one, _ in parts])
    col = torch.cat([one.pattern.col.int() + first for one, first in parts])
    values = torch.cat(
        [torch.ones(one.nnz, device=row.device) if one.values is None else one.values for one, _ in parts]
    )
    order = torch.argsort(row, stable=True)
    crow = torch.zeros(local.shape[0] + 1, dtype=torch.int64, device=row.device)
    crow[1:] = torch.bincount(row, minlength=local.shape[0]).cumsum(0)
    return crow.int(), col[order], values[order]


def one_device(path: str, options: argparse.Namespace, full: torch.Tensor) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the row of the entire matrix, measured on rank 0 while the others are idle, and its results."""
    whole, x, first = whole_matrix(path, options.format), full.cuda(), dist.get_rank() == 0
    x4 = heads(x)
    with torch.no_grad():
        results = {
            "product": whole @ x,
            "attention": st.attention(whole, x4, x4, x4).flatten(1),
            "sddmm": st.sddmm(whole, x, x).double().square().sum(),
        }
    both = training(whole, x)
    works = {
        "step": lambda: whole @ x,
        "training": both,
        "sddmm": lambda: st.sddmm(whole, x, x),
        "attention": lambda: st.attention(whole, x4, x4, x4),
    }
    times = {name: round(device_time(run if first else lambda: None, options.runs), 2) for name, run in works.items()}
    return {"wire": "one", "owned": len(x), **times}, results


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
        rows = open_part(Path(path) / "part-0000.h5").shape[0]
        generator = torch.Generator().manual_seed(1)
        full = (torch.rand(rows, options.n, generator=generator) - 0.5).to(getattr(torch, options.dtype))
        one, expected = one_device(path, options, full)
        torch.cuda.empty_cache()
        found = [one]
        found += [wire_row(path, wire, options, full, expected) for wire in ("group", "peers")]
        found += cusparse_rows(path, options, full, expected)
        if dist.get_rank() == 0:
            for row in found:
                writer.writerow({"parts": Path(path).name, "n": options.n, "dtype": options.dtype, **row})
            sys.stdout.flush()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
