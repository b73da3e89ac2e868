#!/usr/bin/env python3
"""Host time per call: operators of sptile.torch on a tiny matrix, compared with torch.sparse.mm in the same run.

    tools/bench/torch_overhead.py [--device cuda] [--calls 2000] [--most]

Each line is the time per call in microseconds, in the fastest of many blocks of calls: other work on the machine
only adds time. On a CUDA device, calls are only enqueued. --most: exit 1 if a product takes more than 15 us without,
or 30 us with autograd.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable

import torch

import sptile.torch as st

MOST = {"spmm": 15.0, "spmm, autograd": 30.0}


def microseconds(call: Callable[[], object], calls: int, finish: Callable[[], None]) -> float:
    """Returns the time of one call in the fastest of the blocks of 20."""
    block = 20
    for _ in range(10 * block):
        call()
    times = []
    for _ in range(max(calls // block, 1)):
        finish()
        begin = time.perf_counter()
        for _ in range(block):
            call()
        times.append((time.perf_counter() - begin) / block * 1e6)
    return min(times)


def cases(device: str) -> dict[str, Callable[[], object]]:
    """Returns the measured cases."""
    n, width = 8, 8
    dense = torch.eye(n) + torch.diag(torch.ones(n - 1), 1)
    a = st.SparseMatrix.from_torch(dense).to(device)
    theirs = dense.to_sparse_csr().to(device)
    x = torch.randn(n, width, device=device)
    learned = x.clone().requires_grad_()
    values = torch.randn(a.nnz, device=device)
    weight = torch.randn(width, width, device=device)
    q = torch.randn(n, 2, 4, device=device)
    on_device = dense.to(device)
    return {
        "torch.sparse.mm": lambda: torch.sparse.mm(theirs, x),
        "torch.sparse.mm, autograd": lambda: torch.sparse.mm(theirs, learned),
        "torch.mm": lambda: torch.mm(on_device, x),
        "spmm": lambda: st.spmm(a, x),
        "spmm, autograd": lambda: st.spmm(a, learned),
        "spmm through the dispatcher": lambda: torch.ops.sptile.spmm.default(*a._product, False, x, None),
        "spmm with values": lambda: st.spmm(a, x, values),
        "sddmm": lambda: st.sddmm(a, x, x),
        "softmax": lambda: st.softmax(a, values),
        "attention": lambda: st.attention(a, q, q, q),
        "spmm_update": lambda: st.spmm_update(a, x, weight),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--calls", type=int, default=3000)
    parser.add_argument("--most", action="store_true", help="fail if a product takes too long")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    finish = torch.cuda.synchronize if arguments.device.startswith("cuda") else lambda: None
    failed = False
    for name, call in cases(arguments.device).items():
        took = microseconds(call, arguments.calls, finish)
        over = took > MOST.get(name, float("inf"))
        failed |= over
        print(f"{name:30} {took:8.2f} us" + ("  more than " + str(MOST[name]) if over else ""))
    return 1 if failed and arguments.most else 0


if __name__ == "__main__":
    sys.exit(main())
