#!/usr/bin/env python3
"""Times one run of a batch of small matrices, compared with one run per matrix. CSV on stdout, medians in microseconds.

    tools/bench/batches.py [--device cuda|cpu] [-n 64] [--count 1000] [--atoms 40] [--format csr,bittcf,bmat,tall]
                           [--precision fp32|tf32] [--threads T]

molecules: block-diagonal matrices with random bonds. layers: pruned projections of one network, stacked. mini-batches:
sampled neighbours, block-diagonal. `graph_us` is the time of the runs of all matrices in one CUDA graph, `each_us` that
of the same runs one after another; ratios are over `batch_us`. `make_us` and `make_each_us` are the times from arrays on
the device to plans. `error` is the largest ||C - AB|| / ||AB|| against SciPy in double precision. Requires torch.
"""
from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import scipy.sparse
import torch

import sptile

GROUPS, GROUP_SECONDS = 11, 0.02


def random_matrix(rows: int, cols: int, degree: int, random: np.random.Generator) -> scipy.sparse.csr_array:
    columns = np.concatenate([np.sort(random.choice(cols, degree, replace=False)) for _ in range(rows)])
    values = random.uniform(-1, 1, rows * degree).astype(np.float32)
    return scipy.sparse.csr_array((values, columns.astype(np.int32), np.arange(0, rows * degree + 1, degree)), (rows, cols))


def molecule(atoms: int, random: np.random.Generator) -> scipy.sparse.csr_array:
    """A chain of atoms with a few additional bonds."""
    ends = np.concatenate([np.stack([np.arange(atoms - 1), np.arange(1, atoms)]),
                           random.integers(atoms, size=(2, atoms // 8))], axis=1)
    ends = ends[:, ends[0] != ends[1]]
    bonds = scipy.sparse.coo_array((np.ones(ends.shape[1]), ends), (atoms, atoms)).tocsr()
    bonds = (bonds + bonds.T).tocsr()
    bonds.data = random.uniform(-1, 1, bonds.nnz).astype(np.float32)
    return bonds


def cases(arguments: argparse.Namespace) -> dict[str, list[scipy.sparse.csr_array]]:
    random = np.random.default_rng(1)
    return {"molecules": [molecule(arguments.atoms, random) for _ in range(arguments.count)],
            "layers": [random_matrix(64, 768, 77, random) for _ in range(36)],
            "mini-batches": [random_matrix(1024, 4096, 10, random) for _ in range(32)]}


def on_device(a: scipy.sparse.csr_array, device: str) -> torch.Tensor:
    parts = (torch.from_numpy(np.ascontiguousarray(part)) for part in (a.indptr.astype(np.int64), a.indices, a.data))
    return torch.sparse_csr_tensor(*parts, a.shape).to(device)


def call_us(run: Callable[[], object], wait: Callable[[], None]) -> float:
    def seconds(times: int) -> float:
        wait()
        begin = time.perf_counter()
        for _ in range(times):
            run()
        wait()
        return time.perf_counter() - begin

    seconds(1)
    times = int(np.clip(GROUP_SECONDS / seconds(1), 1, 1000))
    return statistics.median(1e6 * seconds(times) / times for _ in range(GROUPS))


def captured(run: Callable[[], object]) -> Callable[[], object]:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def measure(matrices: list[scipy.sparse.csr_array], stacked: bool, options: dict[str, object], n: int) -> list[object]:
    device = str(options["device"])
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    parts = [on_device(a, device) for a in matrices]
    whole = (scipy.sparse.vstack if stacked else scipy.sparse.block_diag)(matrices, format="csr")
    b = torch.rand(whole.shape[1], n, device=device) * 2 - 1
    c = torch.empty(whole.shape[0], n, device=device)
    rows = torch.split(c, [a.shape[0] for a in matrices])
    columns = [b] * len(matrices) if stacked else torch.split(b, [a.shape[1] for a in matrices])

    def make() -> sptile.Plan:
        return (sptile.vstack if stacked else sptile.block_diag)(parts).plan(n, **options)

    def timed(f: Callable[[], object]) -> tuple[object, float]:
        wait()
        begin = time.perf_counter()
        result = f()
        wait()
        return result, 1e6 * (time.perf_counter() - begin)

    make()  # loads the kernels
    plan, make_us = timed(make)
    plans, make_each_us = timed(lambda: [sptile.plan(part, n, **options) for part in parts])
    exact = whole.astype(np.float64) @ b.cpu().numpy().astype(np.float64)

    def run() -> None:
        plan(b, out=c)

    def run_each() -> None:
        for one, from_b, to_c in zip(plans, columns, rows):
            one(from_b, out=to_c)

    def error(step: Callable[[], None]) -> float:
        c.fill_(float("nan"))
        step()
        return float(np.linalg.norm(c.cpu().numpy() - exact) / np.linalg.norm(exact))

    worst = max(error(run), error(run_each))
    if not worst <= (1e-2 if options["precision"] == "tf32" else 1e-5):
        raise SystemExit(f"{plan.kernel}: the error is {worst:.3g}")
    batch_us, each_us = call_us(run, wait), call_us(run_each, wait)
    graph_us = call_us(captured(run_each), wait) if device == "cuda" else None
    times = [batch_us, graph_us, graph_us and graph_us / batch_us, each_us, each_us / batch_us, make_us, make_each_us]
    return [whole.nnz, plan.kernel, *("" if t is None else f"{t:.2f}" for t in times), f"{worst:.1e}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--format", help="default: csr, and on CUDA devices also bittcf, bmat and tall")
    parser.add_argument("--precision", choices=("fp32", "tf32"), default="fp32")
    parser.add_argument("-n", type=int, default=64, help="columns of B")
    parser.add_argument("--count", type=int, default=1000, help="number of molecules")
    parser.add_argument("--atoms", type=int, default=40, help="atoms per molecule")
    parser.add_argument("--threads", type=int, default=0, help="number of CPU threads; 0 uses all")
    arguments = parser.parse_args()
    formats = arguments.format or ("csr" if arguments.device == "cpu" else "csr,bittcf,bmat,tall")
    print("case,device,format,precision,n,matrices,nonzeros,kernel,batch_us,graph_us,graph_ratio,each_us,each_ratio,make_us,"
          "make_each_us,error")
    for name, matrices in cases(arguments).items():
        for format in formats.split(","):
            options = {"device": arguments.device, "format": format, "precision": arguments.precision,
                       "threads": arguments.threads}
            row = measure(matrices, name == "layers", options, arguments.n)
            print(name, arguments.device, format, arguments.precision, arguments.n, len(matrices), *row, sep=",", flush=True)


if __name__ == "__main__":
    main()
