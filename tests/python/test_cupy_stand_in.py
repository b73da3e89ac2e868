"""What a plan asks of CuPy, where there is none: a stand-in for it has what CuPy's arrays have, over host
memory, and a plan of the CPU runs in the place of the device's."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Iterator
from ctypes import c_void_p
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sptile
from conftest import random_csr, random_dense
from sptile import _arrays, _calls
from sptile import _library as c
from sptile.bundle import csr_memory

CURRENT = {0: 0x70, 1: 0x71}  # streams of the devices


class Array:
    """As cupy.ndarray, over a NumPy array that it shares."""

    def __init__(self, array: np.ndarray, device_id: int = 0) -> None:
        self.host = array
        self.data = types.SimpleNamespace(ptr=array.ctypes.data, device_id=device_id)

    shape = property(lambda self: self.host.shape)
    strides = property(lambda self: self.host.strides)
    dtype = property(lambda self: self.host.dtype)
    itemsize = property(lambda self: self.host.itemsize)
    ndim = property(lambda self: self.host.ndim)

    def __len__(self) -> int:
        return len(self.host)

    def __getitem__(self, index: Any) -> Array:
        return Array(self.host[host_index(index)])

    def __setitem__(self, index: Any, values: Any) -> None:
        self.host[host_index(index)] = values.host if isinstance(values, Array) else values

    _c_contiguous = property(lambda self: self.host.flags.c_contiguous)

    def copy(self, order: str) -> Array:
        return Array(self.host.copy(order))


def host_index(index: Any) -> Any:
    """An index of arrays of the device alone: CuPy takes no others."""
    parts = index if isinstance(index, tuple) else (index,)
    assert not any(isinstance(part, np.ndarray) for part in parts)
    return tuple(part.host if isinstance(part, Array) else part for part in parts)


class Runs(list[int]):
    """The streams of all runs, and how often an operand was looked at closely."""

    looks = 0


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Runs]:
    cupy = types.ModuleType("cupy")
    cupy.ndarray = Array  # type: ignore[attr-defined]
    cupy.cuda = types.SimpleNamespace(  # type: ignore[attr-defined]
        get_current_stream=lambda ordinal: types.SimpleNamespace(ptr=CURRENT[ordinal]),
        Device=lambda ordinal: contextlib.nullcontext(),
    )
    cupy.asarray = lambda array: Array(np.array(array))  # type: ignore[attr-defined]
    cupy.empty = lambda shape, dtype: Array(np.empty(shape, dtype))  # type: ignore[attr-defined]
    cupy.arange = lambda count: Array(np.arange(count))  # type: ignore[attr-defined]
    cupy.asnumpy = lambda array: array.host.copy()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    found, run, view = Runs(), _calls.run, _arrays.view

    def on_the_host(handle: c_void_p, operands: Any, stream: int, workspace: Any) -> int:
        found.append(stream)
        status: int = run(handle, operands, None, workspace)
        return status

    def counted(array: Any, name: str) -> _arrays.View:
        found.looks += 1
        return view(array, name)

    monkeypatch.setattr(_calls, "run", on_the_host)
    monkeypatch.setattr(_arrays, "view", counted)
    yield found


MATRIX: sp.csr_array = random_csr(20, 15, density=0.3, dtype=np.float32)


def plan_and_operands(n: int = 4) -> tuple[sptile.Plan, Array, Array]:
    plan = sptile.plan(MATRIX, n)
    plan._kind, plan.device = c.DEVICE_CUDA, "cuda:0"
    return plan, Array(random_dense(15, n)), Array(np.empty((20, n), np.float32))


def right(B: Array, C: Array) -> bool:
    return np.allclose(C.host, MATRIX @ B.host, rtol=1e-4, atol=1e-5)


def test_whole_operands_are_looked_at_closely_once(runs: Runs) -> None:
    plan, B, C = plan_and_operands()
    runs.looks = 0
    assert plan(B, out=C) is C and right(B, C) and runs.looks == 2
    B.host += 1
    assert plan(B, out=C) is C and right(B, C)
    assert plan(B, out=C, alpha=2, beta=-1) is C and right(B, C)
    plan(B, out=C, stream=0x99)
    plan(B, out=C, stream=types.SimpleNamespace(ptr=0x98))
    assert runs == [0x70, 0x70, 0x70, 0x99, 0x98] and runs.looks == 2


def test_the_current_stream_is_that_of_the_moment(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, B, C = plan_and_operands()
    plan(B, out=C)
    monkeypatch.setitem(CURRENT, 0, 0x50)
    plan(B, out=C)
    assert runs == [0x70, 0x50]


def test_what_is_not_whole_takes_the_long_way(runs: Runs) -> None:
    plan, B, C = plan_and_operands()
    plan(B, out=C)
    apart, torn = Array(np.empty((20, 8), np.float32)[:, :4]), Array(np.asfortranarray(B.host))
    for b, c_ in ((B, apart), (torn, C)):
        C.host[...] = 0
        looks = runs.looks
        plan(b, out=c_)
        assert right(B, c_) and runs.looks > looks
    few = Array(np.empty((20, 3), np.float32))
    plan(Array(B.host[:, :3]), out=few)
    assert np.allclose(few.host, MATRIX @ B.host[:, :3], rtol=1e-4, atol=1e-5)


both = random_dense(35, 4)
REFUSED = {
    "an operand on another device": (lambda B, C: (Array(B.host, 1), C), "B must be on cuda:0, .*, got cuda:1"),
    "a result on another device": (lambda B, C: (B, Array(C.host, 1)), "C must be on cuda:0, .*, got cuda:1"),
    "another type": (lambda B, C: (Array(B.host.astype(np.float64)), C), "B must be float32, got float64"),
    "a result of another type": (lambda B, C: (B, Array(C.host.astype(np.float64))), "C must be float32, got float64"),
    "another shape": (lambda B, C: (Array(B.host[:-1]), C), "B must have shape"),
    "a result of another shape": (lambda B, C: (B, Array(np.empty((21, 4), np.float32))), "C must have shape"),
    "a result whose rows are torn": (lambda B, C: (B, Array(np.asfortranarray(C.host))), "C has strides"),
    "overlap": (lambda B, C: (Array(both[:15]), Array(both[14:34])), "overlaps"),
    "overlap from below": (lambda B, C: (Array(both[19:34]), Array(both[:20])), "overlaps"),
    "a result between elements": (
        lambda B, C: (B, Array(np.frombuffer(bytearray(322), np.float32, 80, 2).reshape(20, 4))),
        "not aligned",
    ),
    "an operand of the host": (lambda B, C: (B.host, C), "B must be on cuda:0, .*, got cpu"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_refused_after_a_good_run_too(case: str, runs: Runs) -> None:
    change, message = REFUSED[case]
    plan, B, C = plan_and_operands()
    plan(B, out=C)
    b, c_ = change(B, C)
    with pytest.raises(sptile.UsageError, match=message):
        plan(b, out=c_)
    assert len(runs) == 1


def test_neighbours_are_no_overlap(runs: Runs) -> None:
    plan, B, C = plan_and_operands()
    plan(B, out=C)
    runs.looks = 0
    for b, c_ in ((both[:15], both[15:]), (both[20:], both[:20])):
        before = b.copy()
        plan(Array(b), out=Array(c_))
        assert np.allclose(c_, MATRIX @ before, rtol=1e-4, atol=1e-5)
    assert runs.looks == 0


def test_a_closed_plan_is_not_run(runs: Runs) -> None:
    plan, B, C = plan_and_operands()
    plan(B, out=C)
    plan.close()
    with pytest.raises(sptile.UsageError, match="closed"):
        plan(B, out=C)
    with pytest.raises(sptile.UsageError, match="must be numbers"):
        other, _, _ = plan_and_operands()
        other(B, out=C)
        other(B, out=C, alpha="2")  # type: ignore[arg-type]


# ---- Lists of entries that were given in another order ----

COLUMNS, OFFSETS = np.array([2, 0, 2, 1]), np.array([0, 3, 4])


def given(repeated: bool) -> sp.csr_array:
    columns = COLUMNS if repeated else np.array([2, 0, 1, 1])
    return sp.csr_array((np.arange(1.0, 5), columns, OFFSETS), shape=(2, 3))


def on_device(plan: sptile.Plan) -> sptile.Plan:
    plan._kind, plan.device = c.DEVICE_CUDA, "cuda:0"
    return plan


@pytest.mark.parametrize("repeated", [False, True])
def test_lists_are_in_the_order_of_the_given_entries(repeated: bool, runs: Runs) -> None:
    A = given(repeated)
    row, X, Y = np.array([0, 0, 0, 1]), np.array([[1.0, 2], [3, 4]]), np.array([[1.0, 0], [0, 1], [1, 1]])
    dots = (X[row] * Y[A.indices]).sum(1)
    plan = on_device(sptile.plan(A, 2, op="sddmm"))
    got = plan.sddmm(Array(X), Array(Y))
    assert isinstance(got, Array) and np.array_equal(got.host, dots)
    out = Array(np.ones(4))
    assert plan.sddmm(Array(X), Array(Y), out, alpha=2, beta=3, scaled=True) is out
    assert np.array_equal(out.host, 2 * dots * A.data + 3)
    bias = np.array([0.0, 1, 2, 0])
    weights = np.exp(dots + bias)
    weights /= np.bincount(row, weights)[row]
    expected = np.zeros((2, 2))
    np.add.at(expected, row, weights[:, None] * Y[A.indices])
    attention = on_device(sptile.plan(A, 2, op="attention"))
    assert np.allclose(attention.run(Array(X), Array(Y), Array(Y), Array(bias)).host, expected)
    product = on_device(sptile.plan(A, 2))
    assert np.allclose(product.run(Array(Y), values=Array(bias)).host, A._with_data(bias) @ Y)
    with pytest.raises(sptile.UsageError, match="another stream"):
        plan.sddmm(Array(X), Array(Y), stream=0x99)
    with pytest.raises(sptile.UsageError, match="another stream"):
        product.run(Array(Y), values=Array(bias), stream=0x99)
    assert len(runs) == 4


class Sparse:
    """A matrix of CuPy: what has its module, a format and arrays."""

    __module__ = "cupyx.scipy.sparse._matrix"
    shape = (2, 3)

    def __init__(self, format: str, **arrays: np.ndarray) -> None:
        self.format = format
        for name, array in arrays.items():
            setattr(self, name, Array(array))

    def tocsr(self) -> Sparse:
        return Sparse("csr", indptr=np.array([0, 1, 2]), indices=np.array([0, 1]), data=np.ones(2))


def test_entries_of_cupy_go_to_the_library_as_they_are(runs: Runs) -> None:
    row, col, data = np.array([1, 0], np.int32), np.array([1, 2], np.int32), np.array([3.0, 4])
    coo = csr_memory(Sparse("coo", row=row, col=col, data=data))
    assert (coo.arrays.layout, coo.arrays.nnz, coo.arrays.row_dtype, coo.device) == (c.LAYOUT_COO, 2, c.DTYPE_I32, "cuda:0")
    assert (coo.arrays.row, coo.arrays.col) == (row.ctypes.data, col.ctypes.data)
    assert coo.arrays.disorder == c.DISORDER_SUM and not coo.unordered
    # In a batch they have row pointers, and lose their order.
    with pytest.raises(sptile.BadInputError, match="1 row ids but 2 column ids"):
        csr_memory(Sparse("coo", row=row[:1], col=col, data=data))
    batched = csr_memory(Sparse("coo", row=row, col=col, data=data), pointers=True)
    assert batched.arrays.layout == c.LAYOUT_CSR and batched.unordered == "Sparse"
    diagonal = csr_memory(Sparse("dia", data=data))
    assert diagonal.arrays.layout == c.LAYOUT_CSR and diagonal.unordered == "Sparse"
    with pytest.raises(TypeError, match="device memory"):
        coo.__reduce__()


def test_columns_of_cupy_are_spelled_out(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    def searchsorted(array: Array, wanted: Array, side: str) -> np.ndarray:
        return np.searchsorted(array.host, wanted.host, side=side)

    class Columns(Array):
        def __sub__(self, other: int) -> Array:
            return Array(self.host - other)

    monkeypatch.setattr(
        sys.modules["cupy"], "searchsorted", lambda *a, **k: Columns(searchsorted(*a, **k)), raising=False
    )
    rows = np.array([1, 0, 1], np.int32)
    memory = csr_memory(Sparse("csc", indptr=np.array([0, 1, 1, 3]), indices=rows, data=np.ones(3)))
    assert (memory.arrays.layout, memory.arrays.col_dtype) == (c.LAYOUT_COO, c.DTYPE_I64)
    assert memory.kept[1].host.tolist() == [0, 2, 2]
