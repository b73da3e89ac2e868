#!/usr/bin/env python3
"""Times what precedes and includes the first SpMM. CSV on stdout, medians in microseconds.

    tools/bench/start_up.py bundles [--rounds 7] [-n 128] BUNDLE...
    tools/bench/start_up.py arrays [--rounds 7] [-n 128] BUNDLE...
    tools/bench/start_up.py mini-batches [--rounds 200] [-n 128]

bundles: from an open bundle to a plan and its first run, for each stored format. `stored` is yes if the bundle
contained the plan (sptile plan BUNDLE --format FORMAT -n N). `again` is a second plan of the same matrix.
arrays: from the CSR arrays of a bundle in device memory, converted to each format. `create` checks the arrays, `first`
is the sum of create, plan and run, and `products` is `first` over `product`, the time of one SpMM of many.
mini-batches: the same for random matrices of 4096 x 16384 with 24 nonzeros per row, in csr. `p90` is the 90th percentile
of plan and run.
--device cpu measures without a CUDA device. Kernels are loaded before they are timed. Requires torch.
"""
from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator

import numpy as np
import torch

import sptile

FORMATS = {"cuda": ("csr", "me_tcf", "bittcf", "bmat", "rs_tile", "tall", "libra_spmm", "libra_sddmm", "hc_window"),
           "cpu": ("csr",)}  # conversions from arrays run on CUDA devices
PRODUCTS = 20


class Clock:
    """Times calls up to the end of their work on the device, and keeps the times by name."""

    def __init__(self, device: str) -> None:
        self.wait: Callable[[], None] = torch.cuda.synchronize if device == "cuda" else lambda: None
        self.times: dict[str, list[float]] = {}

    def call(self, name: str, f: Callable[[], object]) -> object:
        self.wait()
        begin = time.perf_counter()
        result = f()
        self.wait()
        self.times.setdefault(name, []).append(1e6 * (time.perf_counter() - begin))
        return result

    def quantile(self, name: str, fraction: float = 0.5) -> str:
        return f"{np.quantile(self.times[name], fraction):.1f}"


class Operands:
    """B and C of one shape on the device."""

    def __init__(self, shape: tuple[int, int], arguments: argparse.Namespace) -> None:
        self.n, self.device = arguments.n, arguments.device
        self.b = torch.ones(shape[1], self.n, device=self.device)
        self.c = torch.empty(shape[0], self.n, device=self.device)

    def plan(self, matrix: sptile.Bundle, format: str, **options: bool) -> sptile.Plan:
        return matrix.plan(self.n, device=self.device, format=format, **options)

    def run(self, plan: sptile.Plan) -> None:
        plan(self.b, out=self.c)

    def first_product(self, clock: Clock, csr: torch.Tensor, format: str) -> sptile.Plan:
        """Times all steps from CSR arrays to the result."""
        matrix = clock.call("create", lambda: sptile.Bundle.of(csr))
        plan = clock.call("plan", lambda: self.plan(matrix, format))
        clock.call("run", lambda: self.run(plan))
        return plan


def print_row(*fields: object) -> None:
    print(*fields, sep=",", flush=True)


def measure_bundles(arguments: argparse.Namespace) -> None:
    print_row("bundle", "stored", "format", "kernel", "plan", "again", "first_run")
    for path in arguments.bundle:
        operands = Operands(sptile.open(path).shape, arguments)
        for format in sptile.open(path).formats:
            for stored in (False, True):
                clock = Clock(arguments.device)
                for i in range(arguments.rounds + 1):
                    if i == 1:
                        clock.times.clear()  # the first round loads the kernel
                    bundle = sptile.open(path)
                    plan = clock.call("plan", lambda: operands.plan(bundle, format, replan=not stored))
                    clock.call("run", lambda: operands.run(plan))
                    clock.call("again", lambda: operands.plan(bundle, format, replan=not stored))
                if plan.stored == stored:
                    print_row(os.path.basename(path), "yes" if stored else "no", format, plan.kernel,
                              *map(clock.quantile, ("plan", "again", "run")))


def device_csr(matrix: sptile.Bundle, device: str) -> torch.Tensor:
    a = matrix.tocsr()
    return torch.sparse_csr_tensor(torch.from_numpy(a.indptr.astype(np.int64)), torch.from_numpy(a.indices),
                                   torch.from_numpy(a.data.astype(np.float32)), a.shape).to(device)


def measure_arrays(arguments: argparse.Namespace) -> None:
    print_row("matrix", "format", "nonzeros", "n", "create", "plan", "run", "first", "product", "products")
    for path in arguments.bundle:
        csr = device_csr(sptile.open(path), arguments.device)
        operands = Operands(csr.shape, arguments)
        for format in FORMATS[arguments.device]:
            plan = operands.first_product(Clock(arguments.device), csr, format)  # loads the kernel
            clock = Clock(arguments.device)
            clock.call("products", lambda: [operands.run(plan) for _ in range(PRODUCTS)])
            for _ in range(arguments.rounds):
                operands.first_product(clock, csr, format)
            first = np.median(np.sum([clock.times[name] for name in ("create", "plan", "run")], axis=0))
            product = clock.times["products"][0] / PRODUCTS
            print_row(os.path.basename(path), format, csr.values().numel(), arguments.n,
                      *map(clock.quantile, ("create", "plan", "run")), f"{first:.1f}", f"{product:.1f}",
                      f"{first / product:.1f}")


def mini_batches(device: str, count: int, rows: int = 4096, cols: int = 16384, degree: int = 24) -> Iterator[torch.Tensor]:
    """Matrices with one nonzero in a random column of each of `degree` ranges of columns per row."""
    random = np.random.default_rng(1)
    width = cols // degree
    for _ in range(count):
        columns = (random.integers(width, size=(rows, degree)) + width * np.arange(degree)).astype(np.int32)
        yield torch.sparse_csr_tensor(torch.arange(0, rows * degree + 1, degree), torch.from_numpy(columns.ravel()),
                                      torch.ones(rows * degree), (rows, cols)).to(device)


def measure_mini_batches(arguments: argparse.Namespace) -> None:
    batches = list(mini_batches(arguments.device, 4))
    operands = Operands(batches[0].shape, arguments)
    for i in range(20):
        operands.first_product(Clock(arguments.device), batches[i % len(batches)], "csr")
    clock = Clock(arguments.device)
    for i in range(arguments.rounds):
        operands.first_product(clock, batches[i % len(batches)], "csr")
    clock.times["plan_and_run"] = np.add(clock.times["plan"], clock.times["run"])
    print_row("create", "plan", "run", "p90")
    print_row(*map(clock.quantile, ("create", "plan", "run")), clock.quantile("plan_and_run", 0.9))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("bundles", "arrays", "mini-batches"))
    parser.add_argument("bundle", nargs="*")
    parser.add_argument("-n", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    arguments = parser.parse_intermixed_args()
    {"bundles": measure_bundles, "arrays": measure_arrays, "mini-batches": measure_mini_batches}[arguments.what](arguments)


if __name__ == "__main__":
    main()
