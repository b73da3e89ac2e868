"""Host time of one call with a tiny matrix in microseconds: sptile, SciPy, torch, and the operators of sptile.torch.

    PYTHONPATH=runtime/python SPTILE_LIBRARY=build/runtime/libsptile.so.0 python tools/bench/call_overhead.py

Each row is the minimum of several mean times, which is affected least by other work on the machine. The rows are
measured in turn. On CUDA, calls are enqueued without waiting. "library" is sptile_run alone, with all arguments
prepared. x and y are vectors.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
from collections.abc import Callable
from ctypes import c_void_p
from typing import Any

import numpy as np
import scipy.sparse as sp
import sptile
from scipy.sparse.linalg import aslinearoperator
from sptile import _calls

Row = tuple[str, Callable[[], Any]]


def library_alone(plan: sptile.Plan, b: int, c: int, stream: int | None) -> Callable[[], Any]:
    """Returns a call of sptile_run with prepared operands."""
    call, handle, run = _calls.Call(), plan._handle, _calls.run_prepared
    call.first.data, call.second.data = b, c
    prepared = c_void_p(stream)
    return lambda: run(handle, call.reference, prepared, None)


def numpy_rows(matrix: sp.csr_array, n: int) -> list[Row]:
    B, C = np.ones((matrix.shape[1], n), np.float32), np.empty((matrix.shape[0], n), np.float32)
    plan = sptile.plan(matrix, n, threads=1)
    return [
        ("numpy: library", library_alone(plan, B.ctypes.data, C.ctypes.data, None)),
        ("numpy: plan(B, out=C)", lambda: plan(B, out=C)),
        ("numpy: plan(B)", lambda: plan(B)),
        ("numpy: plan(B[:, :4], out=C[:, :4])", lambda: plan(B[:, :4], out=C[:, :4])),
        ("scipy: csr @ B", lambda: matrix @ B),
    ]


def vector_rows(matrix: sp.csr_array) -> list[Row]:
    x, y = np.ones(matrix.shape[1], np.float32), np.empty(matrix.shape[0], np.float32)
    plan, bundle = sptile.plan(matrix, 1, threads=1), sptile.Bundle.of(matrix)
    operator, other = sptile.aslinearoperator(matrix, threads=1), aslinearoperator(matrix)
    wide, wide_operator = x.astype(np.float64), sptile.aslinearoperator(matrix, threads=1)
    return [
        ("vector: library", library_alone(plan, x.ctypes.data, y.ctypes.data, None)),
        ("vector: plan(x)", lambda: plan(x)),
        ("vector: plan(x, out=y)", lambda: plan(x, out=y)),
        ("vector: bundle @ x", lambda: bundle @ x),
        ("vector: operator @ x", lambda: operator @ x),
        ("vector: operator.matvec(x)", lambda: operator.matvec(x)),
        ("vector: operator.matvec(x, out=y)", lambda: operator.matvec(x, out=y)),
        ("vector: operator.rmatvec(y)", lambda: operator.rmatvec(y)),
        ("vector: operator.matvec(float64 x)", lambda: wide_operator.matvec(wide)),
        ("scipy: csr @ x", lambda: matrix @ x),
        ("scipy: aslinearoperator(csr).matvec(x)", lambda: other.matvec(x)),
    ]


def torch_rows(matrix: sp.csr_array, n: int, device: str) -> list[Row]:
    import torch

    B = torch.ones(matrix.shape[1], n, device=device)
    C = torch.empty(matrix.shape[0], n, device=device)
    parts = (torch.tensor(part) for part in (matrix.indptr, matrix.indices, matrix.data))
    A = torch.sparse_csr_tensor(*parts, size=matrix.shape).to(device)
    plan = sptile.plan(matrix, n, threads=1, device=device)
    learned = B.clone().requires_grad_()
    return [
        (f"torch {device}: plan(B, out=C)", lambda: plan(B, out=C)),
        (f"torch {device}: torch.sparse.mm", lambda: torch.sparse.mm(A, B)),
        (f"torch {device}: torch.sparse.mm, autograd", lambda: torch.sparse.mm(A, learned)),
        *operator_rows(A, B, learned, device),
    ]


def operator_rows(A: Any, B: Any, learned: Any, device: str) -> list[Row]:
    """Rows of the operators of sptile.torch. `learned`: B with a gradient."""
    import torch

    import sptile.torch as st

    a = st.SparseMatrix.from_torch(A)
    values = torch.randn(a.nnz, device=device)
    weight = torch.randn(B.shape[1], B.shape[1], device=device)
    q = torch.randn(B.shape[0], 2, 4, device=device)
    calls: dict[str, Callable[[], Any]] = {
        "spmm": lambda: st.spmm(a, B),
        "spmm, autograd": lambda: st.spmm(a, learned),
        "spmm through the dispatcher": lambda: torch.ops.sptile.spmm.default(*a._product, False, B, None),
        "spmm with values": lambda: st.spmm(a, B, values),
        "sddmm": lambda: st.sddmm(a, B, B),
        "softmax": lambda: st.softmax(a, values),
        "attention": lambda: st.attention(a, q, q, q),
        "spmm_update": lambda: st.spmm_update(a, B, weight),
    }
    return [(f"torch {device}: {name}", call) for name, call in calls.items()]


def cupy_rows(matrix: sp.csr_array, n: int) -> list[Row]:
    import cupy
    import cupyx.scipy.sparse as csp

    B, C = cupy.ones((matrix.shape[1], n), cupy.float32), cupy.empty((matrix.shape[0], n), cupy.float32)
    A = csp.csr_matrix(matrix)
    plan = sptile.plan(matrix, n, device="cuda")
    stream = cupy.cuda.get_current_stream().ptr
    return [
        ("cupy: library", library_alone(plan, B.data.ptr, C.data.ptr, stream)),
        ("cupy: plan(B, out=C)", lambda: plan(B, out=C)),
        ("cupy: plan(B)", lambda: plan(B)),
        ("cupy: csr @ B", lambda: A @ B),
    ]


def measure(rows: list[Row], repetitions: int, calls: int, wait: Callable[[], Any]) -> dict[str, float]:
    """Returns the minimum of the mean times of a call, in microseconds."""
    best = dict.fromkeys((name for name, _ in rows), float("inf"))
    for turn in range(repetitions + 1):  # the first is a warm-up
        for name, call in rows:
            begin = time.perf_counter()
            for _ in range(calls):
                call()
            took = (time.perf_counter() - begin) / calls * 1e6
            wait()
            if turn > 0:
                best[name] = min(best[name], took)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("-n", type=int, default=8)
    parser.add_argument("--repetitions", type=int, default=300)
    parser.add_argument(
        "--calls",
        type=int,
        default=20,
        help="calls per repetition; few, so that some repetitions are not interrupted",
    )
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    matrix = sp.random_array(
        (given.rows, given.rows), density=0.05, format="csr", dtype=np.float32, rng=np.random.default_rng(0)
    )

    rows: list[Row] = numpy_rows(matrix, given.n) + vector_rows(matrix)
    wait: Callable[[], Any] = lambda: None  # noqa: E731
    if importlib.util.find_spec("torch") is not None:
        import torch

        torch.set_num_threads(1)
        rows += torch_rows(matrix, given.n, given.device)
        wait = torch.cuda.synchronize if given.device == "cuda" else wait
    if given.device == "cuda" and importlib.util.find_spec("cupy") is not None:
        import cupy

        rows += cupy_rows(matrix, given.n)
        wait = cupy.cuda.Device().synchronize
    found = measure(rows, given.repetitions, given.calls, wait)
    if given.json:
        print(json.dumps({"rows": given.rows, "nnz": int(matrix.nnz), "n": given.n, "us": found}))
        return
    print(f"{given.rows} x {given.rows}, {matrix.nnz} entries, n = {given.n}, float32, one thread")
    for name, microseconds in found.items():
        print(f"{name:42s} {microseconds:8.2f} us")


if __name__ == "__main__":
    main()
