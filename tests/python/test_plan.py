"""Plans: results against SciPy in double, strides, scalars, wrong operands, threads, forks, leaks."""

import array
import ctypes
import gc
import multiprocessing
import os
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sptile
from conftest import Device, random_csr, random_dense, run_python
from hypothesis import given
from hypothesis import strategies as st

TOLERANCE = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 1e-4, "float64": 1e-12}


def close(got: Any, expected: Any, dtype: str) -> bool:
    """Whether sums of some ten products of numbers in -1..1 agree."""
    return np.allclose(np.asarray(got, np.float64), expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def plan_of(device: Device, matrix: sp.csr_array, n: int, **options: Any) -> sptile.Plan:
    """With products in the type of the operands, on the device of the test."""
    precision = {"float32": "fp32", "float64": "fp64"}.get(options.get("dtype") or matrix.dtype.name)
    source = (
        matrix if matrix.dtype.itemsize == 2 else device.sparse(matrix)
    )  # CuPy has no sparse ones of 16 bits
    return sptile.plan(source, n, device=device.name, precision=precision, **options)


# ---- SpMM ----


@given(
    rows=st.integers(0, 30),
    cols=st.integers(0, 30),
    n=st.integers(1, 20),
    k=st.integers(0, 20),
    density=st.sampled_from([0, 0.05, 0.5, 1]),
    dtype=st.sampled_from(["float32", "float64"]),
    alpha=st.sampled_from([1.0, 0.0, -2.5, 3]),
    beta=st.sampled_from([0.0, 1.0, -0.5]),
    b_layout=st.sampled_from(["C", "F", "columns", "rows", "backwards", "read-only"]),
    c_layout=st.sampled_from(["C", "columns", "rows"]),
    seed=st.integers(0, 1000),
)
def test_spmm_of_any_shape(
    rows: int,
    cols: int,
    n: int,
    k: int,
    density: float,
    dtype: str,
    alpha: float,
    beta: float,
    b_layout: str,
    c_layout: str,
    seed: int,
) -> None:
    k = min(k, n)
    matrix = random_csr(rows, cols, density, np.dtype(dtype), seed)
    plan = sptile.plan(matrix, n)
    assert plan.shape == (rows, cols) and plan.nnz == matrix.nnz
    B = laid_out(random_dense(cols, k, dtype, seed), b_layout)
    out = laid_out(random_dense(rows, k, dtype, seed + 1), c_layout)
    expected = alpha * (matrix.astype(np.float64) @ B.astype(np.float64)) + beta * out.astype(np.float64)
    assert plan(B, out=out, alpha=alpha, beta=beta) is out
    assert close(out, expected, dtype)
    if beta == 0:
        fresh = plan(B, alpha=alpha)
        assert fresh.shape == (rows, k) and fresh.dtype == dtype
        assert np.array_equal(fresh, out)  # the same bits however they lie


def laid_out(dense: np.ndarray, layout: str) -> np.ndarray:
    """The same numbers in other places."""
    rows, cols = dense.shape
    if layout == "F":
        return np.asfortranarray(dense)
    if layout == "columns":  # the middle of a wider matrix
        wide = np.full((rows, cols + 5), np.nan, dense.dtype)
        wide[:, 2 : 2 + cols] = dense
        return wide[:, 2 : 2 + cols]
    if layout == "rows":  # every other row
        tall = np.full((2 * rows, cols), np.nan, dense.dtype)
        tall[::2] = dense
        return tall[::2]
    if layout == "backwards":
        return np.ascontiguousarray(dense[::-1])[::-1]
    if layout == "read-only":
        dense = dense.copy()
        dense.flags.writeable = False
    return dense


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("result", [None, "float32"])
def test_spmm_of_any_type(device: Device, dtype: str, result: str | None) -> None:
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
        if device.name == "cuda":
            pytest.skip("CuPy has no bfloat16")
    matrix = random_csr(40, 50, dtype=np.float64 if dtype == "float64" else np.float32)
    if result is not None and dtype in ("float32", "float64"):
        pytest.skip("results of another type are for operands of 16 bits")
    if dtype in ("float16", "bfloat16"):  # values of 16 bits, which SciPy has not
        matrix.data = matrix.data.astype(
            np.dtype(dtype) if dtype == "float16" else __import__("ml_dtypes").bfloat16
        )
    plan = (
        plan_of(device, matrix, 8, dtype=dtype, result=result)
        if dtype != "bfloat16"
        else sptile.plan(matrix, 8, result=result)
    )
    assert (plan.dtype, plan.result_dtype) == (dtype, result or dtype)
    B = random_dense(50, 8).astype(matrix.data.dtype)
    expected = sp.csr_array(
        (matrix.data.astype(np.float64), matrix.indices, matrix.indptr), matrix.shape
    ) @ B.astype(np.float64)
    got = device.get(plan(device.put(B)))
    assert got.dtype.name == (result or dtype)
    assert close(got.astype(np.float64), expected, dtype)


@pytest.mark.parametrize(
    "format", ["csr", "bittcf", "bmat", "me_tcf", "rs_tile", "tall", "libra_spmm", "hc_window"]
)
def test_every_format_of_a_file(bundle_path: Path, small: sp.csr_array, device: Device, format: str) -> None:
    plan = sptile.open(bundle_path).plan(8, format=format, device=device.name, precision="fp32")
    assert plan.format == format
    B = random_dense(45, 8)
    assert close(device.get(plan(device.put(B))), small @ B, "float32")


def test_vectors(device: Device, small: sp.csr_array) -> None:
    plan = plan_of(device, small, 1)
    x = random_dense(45, 1, np.float64)[:, 0]
    assert close(device.get(plan(device.put(x))), small @ x, "float64")
    out = device.put(np.zeros(60))
    assert plan(device.put(x), out=out) is out
    assert close(device.get(out), small @ x, "float64")
    apart = device.put(np.zeros((60, 3)))
    plan(device.put(np.repeat(x, 2))[::2], out=apart[:, 1])
    assert close(device.get(apart)[:, 1], small @ x, "float64")
    assert not device.get(apart)[:, [0, 2]].any()


def test_transposed(device: Device, small: sp.csr_array, bundle_path: Path) -> None:
    X = random_dense(60, 5)
    for plan in (
        plan_of(device, small.astype(np.float32), 5, transpose=True, format="csr"),
        sptile.open(bundle_path).plan(5, transpose=True, device=device.name, precision="fp32"),
    ):
        assert plan.shape == (45, 60)
        assert close(device.get(plan(device.put(X))), small.T @ X, "float32")


def test_fewer_columns_do_not_touch_the_rest(device: Device, small: sp.csr_array) -> None:
    plan = plan_of(device, small, 8)
    B, C = random_dense(45, 8, np.float64), device.put(np.full((60, 8), 7.0))
    plan(device.put(B)[:, :3], out=C[:, 4:7])
    got = device.get(C)
    assert close(got[:, 4:7], small @ B[:, :3], "float64")
    assert (got[:, [0, 1, 2, 3, 7]] == 7).all()


def test_sides_of_one_matrix_are_not_an_overlap(device: Device) -> None:
    matrix = random_csr(20, 20, dtype=np.float64)
    both = device.put(random_dense(20, 8, np.float64))
    before = device.get(both).copy()
    plan_of(device, matrix, 4)(both[:, :4], out=both[:, 4:])
    assert close(device.get(both)[:, 4:], matrix @ before[:, :4], "float64")


def test_old_contents_do_not_matter_without_beta(device: Device, small: sp.csr_array) -> None:
    C = device.put(np.full((60, 4), np.nan))
    plan_of(device, small, 4)(device.put(random_dense(45, 4, np.float64)), out=C)
    assert np.isfinite(device.get(C)).all()


class Interface:
    """Has nothing but one attribute of an array."""

    def __init__(self, owner: Any, *names: str) -> None:
        for name in names:
            setattr(self, name, getattr(owner, name))


class Dlpack:
    """Has nothing but DLPack."""

    def __init__(self, owner: Any) -> None:
        self.__owner = owner

    def __dlpack__(self, **options: Any) -> Any:
        return self.__owner.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.__owner.__dlpack_device__()


def test_operands_of_any_kind_on_the_cpu() -> None:
    matrix = random_csr(6, 5, density=0.5, dtype=np.float64)
    plan = sptile.plan(matrix, 3)
    B = random_dense(5, 3, np.float64)
    expected = plan(B)
    for same in (Interface(B, "__array_interface__"), memoryview(B), Dlpack(B)):
        assert np.array_equal(plan(same), expected)
    room = bytearray(6 * 3 * 8)
    plan(B, out=memoryview(room).cast("B").cast("d", (6, 3)))
    assert np.array_equal(np.frombuffer(room).reshape(6, 3), expected)
    x = array.array("d", B[:, 0])
    expected = plan(np.array(x))
    assert np.array_equal(plan(x), expected)
    c = (ctypes.c_double * 6)()
    plan(x, out=c)
    assert list(c) == list(expected)


def test_operands_of_any_kind_on_cuda(device: Device) -> None:
    if device.name == "cpu":
        pytest.skip("of the CPU there is another test")
    plan = plan_of(device, random_csr(6, 5, density=0.5, dtype=np.float64), 3)
    B = device.put(random_dense(5, 3, np.float64))
    expected = device.get(plan(B))
    out = device.arrays.zeros((6, 3))
    plan(Interface(B, "__cuda_array_interface__"), out=Interface(out, "__cuda_array_interface__"))
    assert np.array_equal(device.get(out), expected)
    assert np.array_equal(device.get(plan(Dlpack(B))), expected)
    with pytest.raises(sptile.UsageError, match="out is required"):
        plan(Interface(B, "__cuda_array_interface__"))


def test_streams_and_graphs(device: Device) -> None:
    if device.name == "cpu":
        pytest.skip("streams are of CUDA")
    cupy = device.arrays
    matrix = random_csr(300, 200, dtype=np.float32)
    plan = plan_of(device, matrix, 16)
    stream = cupy.cuda.Stream(non_blocking=True)
    B, C = device.put(random_dense(200, 16)), cupy.zeros((300, 16), cupy.float32)
    cupy.cuda.Device().synchronize()
    for handle in (stream, stream.ptr):
        C[...] = 0
        cupy.cuda.Device().synchronize()
        plan(B, out=C, stream=handle)
        stream.synchronize()
        assert close(device.get(C), matrix @ device.get(B), "float32")
    C[...] = 0
    cupy.cuda.Device().synchronize()
    with stream:
        stream.begin_capture()
        plan(B, out=C)
        graph = stream.end_capture()
        assert not device.get(C).any()
        B += 1
        graph.launch(stream)
    stream.synchronize()
    assert close(device.get(C), matrix @ device.get(B), "float32")
    room = cupy.zeros(max(1, plan.workspace_bytes), cupy.uint8)
    C[...] = 0
    plan(B, out=C, workspace=room)
    assert close(device.get(C), matrix @ device.get(B), "float32")
    if plan.workspace_bytes > 1:
        with pytest.raises(sptile.UsageError, match="workspace"):
            plan(B, out=C, workspace=room[:1])


# ---- Other operations ----


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("order", ["csr", "packed"])
def test_sddmm(device: Device, small: sp.csr_array, scaled: bool, order: str) -> None:
    plan = plan_of(device, small, 6, op="sddmm", order=order)
    assert plan.order == order
    X, Y = random_dense(60, 6, np.float64), random_dense(45, 6, np.float64, seed=2)
    expected = (X @ Y.T)[sp.coo_array(small).coords] * (small.data if scaled else 1)
    got = plan.sddmm(device.put(X), device.put(Y), scaled=scaled)
    assert close(device.get(got), expected, "float64")  # packed as csr stores them is the order of csr
    twice = plan.sddmm(device.put(X), device.put(Y), out=got, alpha=2, beta=-1, scaled=scaled)
    assert twice is got and close(device.get(got), expected, "float64")


def test_sddmm_in_the_order_of_csr_whatever_the_format(
    bundle_path: Path, small: sp.csr_array, device: Device
) -> None:
    X, Y = random_dense(60, 6), random_dense(45, 6, seed=2)
    expected = (X @ Y.T)[sp.coo_array(small).coords]
    plan = sptile.open(bundle_path).plan(6, op="sddmm", format="bittcf", device=device.name, precision="fp32")
    assert plan.format == "bittcf"
    assert close(device.get(plan.sddmm(device.put(X), device.put(Y))), expected, "float32")


def test_refresh(bundle_path: Path, small: sp.csr_array, device: Device) -> None:
    bundle = sptile.open(bundle_path)
    fixed = bundle.plan(4, format="bittcf", device=device.name, precision="fp32")
    plan = bundle.plan(4, format="bittcf", device=device.name, precision="fp32", refreshable=True)
    other = bundle.plan(4, format="csr", device=device.name, precision="fp32", refreshable=True)
    B = device.put(random_dense(45, 4))
    before = small @ device.get(B)
    fresh = np.arange(small.nnz, dtype=np.float32) / small.nnz
    after = sp.csr_array((fresh, small.indices, small.indptr), small.shape) @ device.get(B)
    plan.refresh(device.put(fresh))
    for one in (
        plan,
        other,
        bundle.plan(4, format="bmat", device=device.name, precision="fp32", refreshable=True),
    ):
        assert close(device.get(one(B)), after, "float32")
    assert close(device.get(fixed(B)), before, "float32")
    plan.refresh(fresh[::-1][::-1])  # from host memory
    assert close(device.get(plan(B)), after, "float32")
    for values, message in (
        (fresh[:-1], "shape"),
        (fresh.astype(np.float64), "values must be float32, got float64"),
        (fresh.astype(np.int32), "values must be float32, got int32"),
        ([1.0], "values must be .*, got list"),
    ):
        with pytest.raises(sptile.UsageError, match=message):
            plan.refresh(values)
    with pytest.raises(sptile.UsageError, match="refreshable"):
        fixed.refresh(fresh)


def test_refresh_with_what_sddmm_wrote(bundle_path: Path, small: sp.csr_array) -> None:
    bundle = sptile.open(bundle_path)
    options: dict[str, Any] = {"format": "bittcf", "refreshable": True}
    sampled = bundle.plan(4, op="sddmm", order="packed", **options)
    X, Y = random_dense(60, 4), random_dense(45, 4, seed=2)
    product = bundle.plan(4, **options)
    product.refresh(sampled.sddmm(X, Y), order="packed")
    values = (X @ Y.T)[sp.coo_array(small).coords]
    assert close(product(Y), sp.csr_array((values, small.indices, small.indptr), small.shape) @ Y, "float32")


def row_softmax(matrix: sp.csr_array, scores: np.ndarray) -> np.ndarray:
    weights = np.zeros_like(scores)
    for i in range(matrix.shape[0]):
        row = slice(matrix.indptr[i], matrix.indptr[i + 1])
        if row.start < row.stop:
            weights[row] = np.exp(scores[row] - scores[row].max())
            weights[row] /= weights[row].sum()
    return weights


@pytest.mark.parametrize("heads", [1, 3])
def test_softmax_of_rows(device: Device, small: sp.csr_array, heads: int) -> None:
    plan = plan_of(device, small, 1, op="softmax_rows", heads=heads, format="csr")
    scores = np.random.default_rng(0).uniform(-3, 3, (heads, small.nnz))
    got = device.get(plan.run(device.put(scores if heads > 1 else scores[0]), alpha=2))
    for head in range(heads):
        assert close(got[head] if heads > 1 else got, row_softmax(small, 2 * scores[head]), "float64")


@pytest.mark.parametrize("side_by_side", [False, True])
def test_attention(device: Device, side_by_side: bool) -> None:
    matrix, heads, n, m = random_csr(30, 30, dtype=np.float64), 2, 5, 4
    plan = plan_of(device, matrix, n, op="attention", m=m, heads=heads, format="csr")
    rng = np.random.default_rng(0)

    def operand(width: int) -> np.ndarray:
        if side_by_side:
            return rng.uniform(-1, 1, (30, heads, width)).transpose(1, 0, 2)
        return rng.uniform(-1, 1, (heads, 30, width))

    X, Y, V = operand(n), operand(n), operand(m)
    bias = rng.uniform(-1, 1, (heads, matrix.nnz))
    given = [device.put(a) for a in (X, Y, V, bias)]
    out = plan.run(*given, alpha=0.5)
    statistics = device.put(np.zeros((heads, 30, 2)))
    again = plan.run(*given, statistics, alpha=0.5)
    assert again[0] is statistics and np.array_equal(device.get(again[1]), device.get(out))
    i, j = sp.coo_array(matrix).coords
    for head in range(heads):
        scores = 0.5 * (X[head][i] * Y[head][j]).sum(1) + bias[head]
        weights = sp.csr_array((row_softmax(matrix, scores), matrix.indices, matrix.indptr), matrix.shape)
        assert close(device.get(out)[head], weights @ V[head], "float64")


def test_update(device: Device, small: sp.csr_array) -> None:
    plan = plan_of(device, small, 6, op="spmm_update", m=3, activation="relu", format="csr")
    B, W, bias = (
        random_dense(45, 6, np.float64),
        random_dense(6, 3, np.float64),
        random_dense(1, 3, np.float64)[0],
    )
    Z = device.put(np.zeros((60, 6)))
    kept, C = plan.run(device.put(B), device.put(W), device.put(bias), Z)
    assert kept is Z and close(device.get(Z), small @ B, "float64")
    assert close(device.get(C), np.maximum(small @ B @ W + bias, 0), "float64")
    turned = plan_of(device, small, 6, op="spmm_update", m=3, transposed_weights=True, format="csr")
    assert close(device.get(turned.run(device.put(B), device.put(W.T.copy()))), small @ B @ W, "float64")


def test_heads_of_spmm_and_values_of_a_run(device: Device, small: sp.csr_array) -> None:
    plan = plan_of(device, small, 4, heads=2, format="csr")
    rng = np.random.default_rng(5)
    B, values = rng.uniform(-1, 1, (2, 45, 4)), rng.uniform(-1, 1, (2, small.nnz))
    got = device.get(plan.run(device.put(B), values=device.put(values)))
    shared = device.get(plan.run(device.put(B), values=device.put(values[0])))
    same = device.get(plan.run(device.arrays.broadcast_to(device.put(B[0]), (2, 45, 4))))
    for head in range(2):
        matrix = sp.csr_array((values[head], small.indices, small.indptr), small.shape)
        assert close(got[head], matrix @ B[head], "float64")
        assert close(same[head], small @ B[0], "float64")
    assert np.array_equal(shared[0], got[0])
    with pytest.raises(sptile.UsageError, match="values must be"):
        plan.run(device.put(B), values=device.put(values.astype(np.float32)))
    with pytest.raises(sptile.UsageError, match="values"):
        plan.run(device.put(B), values=device.put(values[:, 1:]))
    with pytest.raises(sptile.UsageError, match="contiguous"):
        plan.run(device.put(B), values=device.put(np.repeat(values, 2, axis=1))[:, ::2])


# ---- What is refused ----

GOOD_B, GOOD_C = random_dense(45, 4), np.zeros((60, 4), np.float32)


def misaligned(rows: int) -> np.ndarray:
    return np.frombuffer(bytearray(rows * 16 + 1), np.uint8)[1:].view(np.float32).reshape(rows, 4)


def read_only() -> np.ndarray:
    made = GOOD_C.copy()
    made.flags.writeable = False
    return made


def overlapping() -> dict[str, Any]:
    memory = np.zeros(60 * 4 + 45 * 4, np.float32)
    return {"B": memory[: 45 * 4].reshape(45, 4), "out": memory[45 * 4 - 1 : -1].reshape(60, 4)}


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no array": ({"B": [[1.0]]}, "B must be a NumPy or CuPy array, .*, got list"),
    "none": ({"B": None}, "B is missing"),
    "a number": ({"B": 3.0}, "B must be .*, got float"),
    "text": ({"B": "abc"}, "B must be .*, got str"),
    "a mask": ({"B": np.ma.masked_less(GOOD_B, 0)}, "B must not be a masked array"),
    "objects": ({"B": GOOD_B.astype(object)}, "B must be float32, got object"),
    "double": ({"B": GOOD_B.astype(np.float64)}, "B must be float32, got float64"),
    "half": ({"B": GOOD_B.astype(np.float16)}, "B must be float32, got float16"),
    "integers": ({"B": GOOD_B.astype(np.int32)}, "B must be float32, got int32"),
    "big endian": ({"B": GOOD_B.astype(">f4")}, "B must be float32, got >f4"),
    "rows": ({"B": GOOD_B[:-1]}, r"B must have shape \(45, 4\), got \(44, 4\)"),
    "columns": ({"B": random_dense(45, 5)}, "n = 5, but the plan supports 1 to 4"),
    "a third dimension": ({"B": GOOD_B[None]}, r"B must have shape .*, got \(1, 45, 4\)"),
    "no dimension": ({"B": np.float32(1)}, r"B must have shape .*, got \(\)|numpy.float32|float32"),
    "a longer vector": ({"B": GOOD_B.ravel()}, r"B must have shape \(45,\), got \(180,\)"),
    "transposed": ({"B": random_dense(4, 45)}, r"B must have shape \(45, 45\), got \(4, 45\)"),
    "rows of out": ({"out": np.zeros((59, 4), np.float32)}, r"C must have shape \(60, 4\), got \(59, 4\)"),
    "columns of out": ({"out": np.zeros((60, 3), np.float32)}, r"C must have shape .*, got \(60, 3\)"),
    "vector for a matrix": ({"out": np.zeros(60, np.float32)}, r"C must have shape .*, got \(60,\)"),
    "type of out": ({"out": np.zeros((60, 4))}, "C must be float32, got float64"),
    "list as out": ({"out": [0.0]}, "C must be .*, got list"),
    "read-only out": ({"out": read_only()}, "C is read-only"),
    "bytes as out": ({"out": memoryview(bytes(60 * 16)).cast("f", (60, 4))}, "C is read-only"),
    "columns first in out": ({"out": np.zeros((60, 4), np.float32, order="F")}, "C has strides"),
    "backwards out": ({"out": GOOD_C.copy()[::-1]}, "C has strides"),
    "the same rows in out": (
        {"out": np.lib.stride_tricks.as_strided(GOOD_C, (60, 4), (0, 4))},
        "C has strides",
    ),
    "misaligned out": ({"out": misaligned(60)}, "C is not aligned"),
    "overlap": (overlapping(), "C overlaps B"),
    "beta without out": ({"beta": 1.0}, "beta = 1.0 requires out"),
    "alpha is text": ({"alpha": "2"}, "must be numbers, got '2'"),
    "alpha is none": ({"alpha": None, "out": GOOD_C.copy()}, "must be numbers, got None"),
    "alpha is complex": ({"alpha": 1j, "out": GOOD_C.copy()}, "must be numbers, got 1j"),
    "stream": ({"stream": 0}, "stream requires a plan for a CUDA device"),
    "stream with out": ({"stream": 7, "out": GOOD_C.copy()}, "stream requires a plan for a CUDA device"),
    "workspace is text": ({"workspace": "room"}, "workspace must be .*, got str"),
}


@pytest.mark.parametrize("used", [False, True])  # a plan that ran takes arrays like the last ones faster
@pytest.mark.parametrize("case", WRONG)
def test_wrong_operands_are_refused(case: str, used: bool) -> None:
    plan = sptile.plan(random_csr(60, 45), 4)
    if used:
        plan(GOOD_B, out=GOOD_C.copy())
    arguments, message = WRONG[case]
    call = {"B": GOOD_B, **arguments}
    with pytest.raises(sptile.UsageError, match=message) as caught:
        plan(call.pop("B"), **call)
    assert caught.value.status == 2 and isinstance(caught.value, ValueError)
    assert np.isfinite(plan(GOOD_B)).all()  # it goes on


def test_misaligned_operands_are_copied() -> None:
    plan = sptile.plan(random_csr(60, 45), 4)
    B = misaligned(45)
    B[:] = GOOD_B
    assert np.array_equal(plan(B), plan(GOOD_B))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n": 0}, sptile.UsageError, "n = 0; the dense operands need at least one column"),
        ({"n": -1}, sptile.UsageError, "n = -1"),
        ({"n": 2**64 + 4}, sptile.UsageError, "n = 18446744073709551620 does not fit"),
        ({"n": 1.5}, sptile.UsageError, "n must be an integer, got 1.5"),
        ({"n": "4"}, sptile.UsageError, "n must be an integer, got '4'"),
        ({"op": "spmv"}, sptile.UsageError, "unknown operation spmv; known: spmm"),
        ({"op": None}, sptile.UsageError, "operation"),
        ({"op": 3}, sptile.UsageError, "op must be a str, got 3"),
        ({"format": "coo"}, sptile.UsageError, "coo"),
        ({"format": "bittcf"}, sptile.UsageError, "bittcf.*sptile.convert"),
        ({"format": 3}, sptile.UsageError, "format must be a str, got 3"),
        ({"format": "csr\0"}, sptile.UsageError, "NUL character"),
        ({"kernel": "cpu.csr.abacus"}, sptile.UsageError, "abacus"),
        ({"dtype": "int32"}, sptile.UsageError, "dtype must be float16, .*, got 'int32'"),
        ({"dtype": complex}, sptile.UsageError, "dtype must be .*, got <class 'complex'>"),
        ({"dtype": 3}, sptile.UsageError, "dtype must be .*, got 3"),
        ({"result": "float64"}, sptile.Error, "f64|float64|result"),
        ({"device": "tpu"}, sptile.UsageError, "device must be 'cpu', .*, got 'tpu'"),
        ({"device": "cuda:-1"}, sptile.UsageError, "device"),
        ({"device": "cpu:3"}, sptile.UsageError, "device"),
        ({"threads": -1}, sptile.UsageError, "threads = -1; expected 0 .all. to"),
        ({"threads": 2**40}, sptile.UsageError, "threads"),
        ({"precision": "fp8"}, sptile.UsageError, "precision must be one of 'fp32', .*, got 'fp8'"),
        ({"choice": "guessed"}, sptile.UsageError, "choice"),
        ({"nonfinite": "slow"}, sptile.UsageError, "nonfinite"),
        ({"order": "coo"}, sptile.UsageError, "order"),
        ({"heads": 0}, sptile.UsageError, "heads must be from 1 to 65535, got 0"),
        ({"heads": 65536}, sptile.UsageError, "heads must be from 1 to 65535, got 65536"),
        ({"activation": "gelu"}, sptile.UsageError, "activation must be one of None, 'relu', got 'gelu'"),
        ({"score": []}, sptile.UsageError, "score"),
        ({"m": -1}, sptile.UsageError, "m must be from 0 to .*, got -1"),
        ({"stream": "fast"}, sptile.UsageError, "stream must be .*, got 'fast'"),
        ({"colour": "red"}, TypeError, "colour"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    settings = {"n": 4, **options}
    with pytest.raises(error, match=message):
        sptile.plan(random_csr(6, 5), **settings)


def test_a_plan_does_its_own_operation_only(small: sp.csr_array) -> None:
    spmm, sddmm = sptile.plan(small, 4), sptile.plan(small, 4, op="sddmm")
    X, Y = random_dense(60, 4, np.float64), random_dense(45, 4, np.float64)
    with pytest.raises(sptile.UsageError, match="create a plan with op='sddmm'"):
        spmm.sddmm(X, Y)
    with pytest.raises(sptile.UsageError, match="use plan.run, or plan.sddmm"):
        sddmm(Y)
    with pytest.raises(sptile.UsageError, match=r"sddmm takes 3 operands \(X, Y, out\), got 4"):
        sddmm.run(X, Y, None, None)
    with pytest.raises(sptile.UsageError, match="Y is missing"):
        sddmm.run(X)
    with pytest.raises(sptile.UsageError, match="beta"):
        sddmm.sddmm(X, Y, beta=1)
    with pytest.raises(sptile.UsageError, match="beta"):
        spmm.run(Y, beta=1)


def test_a_device_that_is_not_there(small: sp.csr_array) -> None:
    with pytest.raises((sptile.DeviceError, sptile.UnsupportedError)):
        sptile.plan(small, 4, device="cuda:9999")


def test_host_operands_for_a_device_plan(device: Device, small: sp.csr_array) -> None:
    if device.name == "cpu":
        pytest.skip("needs CUDA")
    with pytest.raises(sptile.UsageError, match="B must be on cuda:0, .*, got cpu"):
        plan_of(device, small, 4)(random_dense(45, 4, np.float64))


def test_torch_operands(device: Device) -> None:
    torch = pytest.importorskip("torch")
    matrix = random_csr(20, 30)
    plan = sptile.plan(matrix, 4, device=device.name, precision="fp32")
    B = torch.tensor(random_dense(30, 4), device=device.name)
    C = plan(B)
    for _ in range(2):  # each framework in turn, the second time faster
        assert torch.equal(plan(B), C)
        assert np.array_equal(device.get(plan(device.put(B.cpu().numpy()))), C.cpu().numpy())
    assert C.device == B.device and close(C.cpu().numpy(), matrix @ B.cpu().numpy(), "float32")
    out = torch.zeros(20, 4, device=device.name)
    assert plan(B, out=out) is out and torch.equal(out, C)
    assert torch.equal(plan(B.T.contiguous().T), C)
    plan(B, out=out)
    for wrong, message in (
        (B.requires_grad_(), r"use sptile.torch, or B.detach\(\)"),
        (B.detach().to_sparse_csr(), "must be a dense tensor on cpu or cuda"),
        (torch._neg_view(B.detach()), "negated"),
        (B.detach().double(), "B must be float32, got float64"),
        (B.detach().to("meta"), "must be a dense tensor on cpu or cuda"),
    ):
        with pytest.raises(sptile.UsageError, match=message):
            plan(wrong, out=out)
    with pytest.raises(sptile.UsageError, match="C has strides"):
        plan(B.detach(), out=torch.zeros(4, 20, device=device.name).T)


# ---- Lifetimes ----


def test_a_closed_plan_is_refused(small: sp.csr_array) -> None:
    with sptile.plan(small, 4) as plan:
        pass
    B, C = random_dense(45, 4, np.float64), np.zeros((60, 4))
    for call in (
        lambda: plan(B, out=C),
        lambda: plan(B),
        lambda: plan.run(B),
        lambda: plan.refresh(small.data),
    ):
        with pytest.raises(sptile.UsageError, match="the plan is closed"):
            call()
    plan.close()


def test_plans_keep_the_arrays_that_they_borrow() -> None:
    def make() -> tuple[sptile.Plan, np.ndarray]:
        matrix = random_csr(2000, 2000, density=0.01)
        return sptile.plan(matrix, 4), matrix @ GROUND

    GROUND = random_dense(2000, 4)
    plan, expected = make()
    gc.collect()
    noise = [np.full(10**5, np.nan) for _ in range(20)]  # what was freed is used again
    assert close(plan(GROUND), expected, "float32")
    del noise


def test_threads_share_a_plan(small: sp.csr_array) -> None:
    plan = sptile.plan(small, 4, threads=1)
    operands = [random_dense(45, 4, np.float64, seed=i) for i in range(8)]
    wrong: list[int] = []

    def work(i: int) -> None:
        expected = small @ operands[i]
        out = np.empty((60, 4))
        for turn in range(300):
            plan(operands[i], out=out, alpha=turn)
            if not np.allclose(out, turn * expected):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_closing_while_others_run(small: sp.csr_array) -> None:
    B = random_dense(45, 4, np.float64)
    for _ in range(50):
        plan = sptile.plan(small, 4, threads=1)
        refused = []

        def work(plan: sptile.Plan = plan, refused: list[bool] = refused) -> None:
            out = np.empty((60, 4))
            for _ in range(10**6):
                try:
                    plan(B, out=out)
                except sptile.UsageError:
                    refused.append(True)
                    return

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        plan.close()
        for thread in threads:
            thread.join(timeout=60)
        assert refused == [True] * 3


def in_child(plan: sptile.Plan, B: np.ndarray, queue: Any) -> None:
    queue.put(plan(B))


def test_plans_go_on_after_fork(small: sp.csr_array) -> None:
    plan = sptile.plan(small, 4)
    B = random_dense(45, 4, np.float64)
    expected = plan(B)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=in_child, args=(plan, B, queue))
    child.start()
    got = queue.get(timeout=60)
    child.join(60)
    assert child.exitcode == 0 and np.array_equal(got, expected)


def test_the_interpreter_ends_with_open_plans() -> None:
    code = (
        "import numpy as np, scipy.sparse as sp, sptile\n"
        "plan = sptile.plan(sp.csr_array(np.eye(3)), 2); bundle = sptile.Bundle.of(sp.csr_array(np.eye(3)))\n"
        "view = bundle.csr().values; cycle = [plan]; cycle.append(cycle); plan(np.ones((3, 2)))\n"
    )
    ended = run_python(code)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is of Linux")
def test_plans_do_not_leak() -> None:
    matrix = random_csr(200, 200, dtype=np.float64)
    B = random_dense(200, 4, np.float64)

    def plan_and_run(count: int) -> None:
        for _ in range(count):
            plan = sptile.plan(matrix, 4, transpose=True, threads=1)  # with a transpose of its own
            plan(B)
            plan(B[:, :2])
            plan.run(B)

    plan_and_run(500)
    before = resident_bytes()
    plan_and_run(10_000)
    gc.collect()
    assert resident_bytes() - before < 8 << 20  # one plan takes about 50 KB: of 10^4 it would be 500 MB


def test_operands_do_not_leak(small: sp.csr_array) -> None:
    plan = sptile.plan(small, 4)
    B, C = random_dense(45, 4, np.float64), np.zeros((60, 4))
    plan(B, out=C)
    before = sys.getrefcount(B), sys.getrefcount(C)
    for _ in range(100):
        plan(B, out=C)
        plan(B, out=C[:, :])
    assert (sys.getrefcount(B), sys.getrefcount(C)) == before
    C.resize((61, 4))  # no export is left
