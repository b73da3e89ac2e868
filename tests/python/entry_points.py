"""Every way in to a product, a row each: how a matrix of `given` is handed over, and what is computed with it.

A new way in joins by a row of ENTRY_POINTS. Operands and results are float64 here; each way converts them to
its type.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

import sptile
import sptile._library as c
from sptile.bundle import _InOrder

from conftest import command
from given import Given

try:
    import torch

    import sptile.torch as st
except ImportError:
    torch = None  # type: ignore[assignment]

Array = np.ndarray[Any, Any]


class EntryPoint(NamedTuple):
    """One way in.

    make      of the entries in `layout`, on a device
    multiply  A B of what was made, for B float64 [cols, n]
    dtypes    of values that it takes; None: patterns
    square    whether it takes square matrices only
    sorted    whether it takes sorted entries of distinct places only
    sddmm, softmax, attention, refreshed, gradient: what it has for one number for each entry as given:
        sddmm(A, X, Y), softmax(A, scores), attention(A, Q, K, V, bias), refreshed(A, values, B) = A B with new
        values, gradient(A, B, G) = that of the values under sum(G * (A B))
    """

    name: str
    layout: str
    dtypes: tuple[str | None, ...]
    make: Callable[[Given, str], Any]
    multiply: Callable[[Any, Array], Array]
    square: bool = False
    sorted: bool = False
    devices: tuple[str, ...] = ("cpu",)
    sddmm: Callable[[Any, Array, Array], Array] | None = None
    softmax: Callable[[Any, Array], Array] | None = None
    attention: Callable[[Any, Array, Array, Array, Array], Array] | None = None
    refreshed: Callable[[Any, Array, Array], Array] | None = None
    gradient: Callable[[Any, Array, Array], Array] | None = None


_SCIPY_DTYPES: tuple[str | None, ...] = ("float32", "float64")
_FILE_DTYPES: tuple[str | None, ...] = ("float32", "float64", None)
_TORCH_DTYPES: tuple[str | None, ...] = ("float32", "float64", "float16", "bfloat16", None)


# ---- Files ----


def _matrix_market(given: Given) -> tuple[str, bytes]:
    field = "pattern" if given.dtype is None else "real"
    lines = [f"%%MatrixMarket matrix coordinate {field} general", f"{given.shape[0]} {given.shape[1]} {len(given.row)}"]
    return "a.mtx", _lines(lines, given, 1)


def _edge_list(given: Given) -> tuple[str, bytes]:
    return "a.el", _lines([f"# {given.shape[0]} x {given.shape[1]}, base 0"], given, 0)


def _lines(lines: list[str], given: Given, base: int) -> bytes:
    for row, col, value in zip(given.row + base, given.col + base, given.values, strict=True):
        lines.append(f"{row} {col}" if given.dtype is None else f"{row} {col} {float(value)!r}")
    return ("\n".join(lines) + "\n").encode()


def _read(write: Callable[[Given], tuple[str, bytes]]) -> Callable[[Given, str], Any]:
    def make(given: Given, _: str) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            name, data = write(given)
            path = Path(folder, name)
            path.write_bytes(data)
            return sptile.read(path)

    return make


def _read_npz(given: Given, _: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.npz")
        sp.save_npz(path, _scipy(given, "coo"))
        return sptile.read(path)


def _command(write: Callable[[Given], tuple[str, bytes]]) -> Callable[[Given, str], Any]:
    """`sptile convert`, then `sptile.open`."""

    def make(given: Given, _: str) -> Any:
        program = command()
        if program is None:
            pytest.skip("the sptile command is missing: set SPTILE_COMMAND")
        with tempfile.TemporaryDirectory() as folder:
            name, data = write(given)
            path, out = Path(folder, name), Path(folder, "a.h5")
            path.write_bytes(data)
            dtype = "f64" if given.dtype == "float64" else "f32"
            subprocess.run([program, "convert", "-q", path, out, "--dtype", dtype], check=True, capture_output=True)
            return sptile.open(out)

    return make


# ---- SciPy and NumPy ----


def _scipy(given: Given, layout: str) -> Any:
    """A SciPy array whose `data` are in the order of the entries."""
    values = given.values.astype(given.dtype or "float32")
    if layout == "coo":
        return sp.coo_array((values, (given.row, given.col)), given.shape)
    outer, inner = (given.row, given.col) if layout == "csr" else (given.col, given.row)
    count = given.shape[0 if layout == "csr" else 1]
    pointers = np.concatenate([[0], np.cumsum(np.bincount(outer, minlength=count))]).astype(np.int32)
    kind = sp.csr_array if layout == "csr" else sp.csc_array
    return kind((values, inner.astype(np.int32), pointers), given.shape)


def _bundle_of(layout: str) -> Callable[[Given, str], Any]:
    return lambda given, _: sptile.Bundle.of(_scipy(given, layout))


def _cupy(given: Given, _: str) -> Any:
    """CuPy's CSR matrix with the arrays as they are given."""
    cupy, sparse = pytest.importorskip("cupy"), pytest.importorskip("cupyx.scipy.sparse")
    csr = _scipy(given, "csr")
    return sptile.Bundle.of(sparse.csr_matrix(tuple(map(cupy.asarray, (csr.data, csr.indices, csr.indptr))), csr.shape))


def _dtype_of(bundle: Any) -> Any:
    return bundle.dtype or np.float32


def _put(bundle: Any, array: Array) -> Any:
    """An operand of the type and on the device of a matrix."""
    converted = array.astype(_dtype_of(bundle))
    return converted if bundle.device == "cpu" else pytest.importorskip("cupy").asarray(converted)


def _get(array: Any) -> Array:
    found: Array = array if isinstance(array, np.ndarray) else array.get()
    return found


def _plan(bundle: Any, B: Array) -> Array:
    with bundle.plan(max(B.shape[1], 1)) as plan:
        return _get(plan(_put(bundle, B)))


def _plan_sddmm(bundle: Any, X: Array, Y: Array) -> Array:
    with bundle.plan(X.shape[1], op="sddmm") as plan:
        return _get(plan.sddmm(_put(bundle, X), _put(bundle, Y)))


def _plan_softmax(bundle: Any, scores: Array) -> Array:
    with bundle.plan(1, op="softmax_rows") as plan:
        return _get(plan.run(_put(bundle, scores)))


def _plan_attention(bundle: Any, Q: Array, K: Array, V: Array, bias: Array) -> Array:
    operands = [_put(bundle, part) for part in (Q, K, V, bias)]
    with bundle.plan(Q.shape[1], op="attention", m=V.shape[1]) as plan:
        return _get(plan.run(*operands))


def _plan_refreshed(bundle: Any, values: Array, B: Array) -> Array:
    with bundle.plan(B.shape[1], refreshable=True) as plan:
        plan.refresh(_put(bundle, values))
        return _get(plan(_put(bundle, B)))


_PLANS: dict[str, Any] = {
    "multiply": _plan,
    "sddmm": _plan_sddmm,
    "softmax": _plan_softmax,
    "attention": _plan_attention,
    "refreshed": _plan_refreshed,
}


def _batch(join: Any) -> Callable[[Given, str], Any]:
    return lambda given, _: join([_scipy(given, "csr")])


def _operator(given: Given, _: str) -> Any:
    return sptile.aslinearoperator(_scipy(given, "csr"))


# ---- C ----


class _Pointers(_InOrder):
    """A source of `sptile.Bundle`: CSR arrays, handed to `sptile_matrix_create` as a C program does."""

    name = "C"

    def __init__(self, arrays: c.Arrays, kept: tuple[Array, ...]) -> None:
        self.arrays, self.kept = arrays, kept

    def make(self, options: Any, handle: Any) -> None:
        handle.arrays = self.kept
        c.check(c.lib.sptile_matrix_create(ctypes.byref(self.arrays), ctypes.byref(options), None, ctypes.byref(handle)))


def _c_arrays(given: Given, _: str) -> Any:
    pointers = np.searchsorted(given.row, np.arange(given.shape[0] + 1)).astype(np.int64)
    kept = pointers, given.col.astype(np.int32), given.values.astype(given.dtype or "float32")
    row, col, values = (part.ctypes.data for part in kept)
    arrays = c.Arrays(
        rows=given.shape[0], cols=given.shape[1], nnz=len(given.row), row=row, col=col,
        values=None if given.dtype is None else values,
        value_dtype=c.DTYPE_NONE if given.dtype is None else {"float32": c.DTYPE_F32, "float64": c.DTYPE_F64}[given.dtype],
    )  # fmt: skip
    return sptile.Bundle._create(_Pointers(arrays, kept), "C")


# ---- PyTorch ----


def _tensor(array: Array, dtype: str | None, device: str) -> Any:
    return torch.from_numpy(np.ascontiguousarray(array)).to(device, getattr(torch, dtype or "float32"))


def _ids(array: Array, device: str) -> Any:
    return torch.from_numpy(np.ascontiguousarray(array)).to(device)


def _values(given: Given, device: str) -> Any:
    return None if given.dtype is None else _tensor(given.values, given.dtype, device).requires_grad_()


def _torch_coordinates(given: Given, device: str) -> Any:
    values = torch.ones(len(given.row)) if given.dtype is None else _tensor(given.values, given.dtype, device)
    ids = _ids(np.stack([given.row, given.col]), device)
    return torch.sparse_coo_tensor(ids, values.requires_grad_(), given.shape)


def _torch_pointers(given: Given) -> tuple[Array, Array]:
    counts = np.bincount(given.row, minlength=given.shape[0])
    return np.concatenate([[0], np.cumsum(counts)]), given.col


def _sparse_matrix(given: Given, device: str) -> Any:
    crow, col = _torch_pointers(given)
    return st.SparseMatrix(_ids(crow, device), _ids(col, device), _values(given, device), given.shape)


def _edge_index(given: Given, device: str) -> Any:
    edges = _ids(np.stack([given.col, given.row]), device)
    return st.SparseMatrix.from_edge_index(edges, _values(given, device), given.shape[0])


def _from_torch_csr(given: Given, device: str) -> Any:
    crow, col = _torch_pointers(given)
    values = _tensor(given.values, given.dtype, device)
    return st.SparseMatrix.from_torch(torch.sparse_csr_tensor(_ids(crow, device), _ids(col, device), values, given.shape))


def _from_bundle(given: Given, _: str) -> Any:
    return st.SparseMatrix.from_bundle(_command(_matrix_market)(given, "cpu"))


def _operand(a: Any, array: Array) -> Any:
    return torch.from_numpy(np.ascontiguousarray(array)).to(a.device, a.dtype)


def _array(tensor: Any) -> Array:
    found: Array = tensor.detach().double().cpu().numpy()
    return found


def _torch_multiply(a: Any, B: Array) -> Array:
    return _array(a @ _operand(a, B))


def _torch_transposed_twice(a: Any, B: Array) -> Array:
    return _array(a.t().t() @ _operand(a, B))


def _torch_compiled(a: Any, B: Array) -> Array:
    torch._dynamo.reset()
    return _array(torch.compile(lambda a, x: a @ x, backend="aot_eager", fullgraph=True)(a, _operand(a, B)))


def _torch_adjacency(a: Any, B: Array) -> Array:
    return _array(torch.matmul(st.adj_t(a), _operand(a, B)))


def _torch_sddmm(a: Any, X: Array, Y: Array) -> Array:
    return _array(st.sddmm(a, _operand(a, X), _operand(a, Y)))


def _torch_softmax(a: Any, scores: Array) -> Array:
    return _array(st.softmax(a, _operand(a, scores)))


def _torch_attention(a: Any, Q: Array, K: Array, V: Array, bias: Array) -> Array:
    return _array(st.attention(a, *(_operand(a, part) for part in (Q, K, V)), scale=1.0, bias=_operand(a, bias)))


def _torch_values(a: Any, values: Array, B: Array) -> Array:
    return _array(a.with_values(_operand(a, values)) @ _operand(a, B))


def _torch_gradient(a: Any, B: Array, G: Array) -> Array:
    values = _operand(a, np.ones(a._order.given)).requires_grad_()
    (a.with_values(values) @ _operand(a, B)).backward(_operand(a, G))
    return _array(values.grad)


_OPERATORS: dict[str, Any] = {
    "multiply": _torch_multiply,
    "devices": ("cpu", "cuda"),
    "sddmm": _torch_sddmm,
    "softmax": _torch_softmax,
    "attention": _torch_attention,
    "refreshed": _torch_values,
    "gradient": _torch_gradient,
}


# ---- Layers: what they add to A x is taken off again ----


def _gin(a: Any, B: Array) -> Array:
    x = _operand(a, B)
    return _array(st.nn.GINConv(torch.nn.Identity()).to(a.device)(x, a)) - _array(x)


def _gin_compiled(a: Any, B: Array) -> Array:
    torch._dynamo.reset()
    layer, x = st.nn.GINConv(torch.nn.Identity()).to(a.device), _operand(a, B)
    return _array(torch.compile(layer, backend="aot_eager", fullgraph=True)(x, a)) - _array(x)


def _sparse_linear(given: Given, device: str) -> Any:
    crow, col = _torch_pointers(given)
    values = _tensor(given.values, given.dtype, device)
    return st.nn.SparseLinear(_ids(crow, device), _ids(col, device), values, given.shape[1])


def _linear(layer: Any, B: Array) -> Array:
    x = torch.from_numpy(np.ascontiguousarray(B.T)).to(layer.values.device, layer.values.dtype)
    return _array(layer(x)).T


def _linear_compiled(layer: Any, B: Array) -> Array:
    torch._dynamo.reset()
    return _linear(torch.compile(layer, backend="aot_eager", fullgraph=True), B)


_SPARSE = ("float32", "float64", "float16", "bfloat16")

ENTRY_POINTS = [
    EntryPoint("read Matrix Market", "coo", _FILE_DTYPES, _read(_matrix_market), lambda A, B: A @ B),
    EntryPoint("read edge list", "coo", _FILE_DTYPES, _read(_edge_list), lambda A, B: A @ B),
    EntryPoint("read npz", "coo", _SCIPY_DTYPES, _read_npz, lambda A, B: A @ B),
    EntryPoint("command, Matrix Market", "coo", _FILE_DTYPES, _command(_matrix_market), _plan),
    EntryPoint("command, edge list", "coo", _FILE_DTYPES, _command(_edge_list), _plan),
    EntryPoint(
        "convert csr", "csr", _SCIPY_DTYPES, lambda g, _: sptile.convert(_scipy(g, "csr"), dtype=g.dtype), _plan
    ),
    EntryPoint(
        "convert coo", "coo", _SCIPY_DTYPES, lambda g, _: sptile.convert(_scipy(g, "coo"), dtype=g.dtype), _plan
    ),
    EntryPoint("Bundle.of csr", "csr", _SCIPY_DTYPES, _bundle_of("csr"), **_PLANS),
    EntryPoint("Bundle.of csc", "csc", _SCIPY_DTYPES, _bundle_of("csc"), **_PLANS),
    EntryPoint("Bundle.of coo", "coo", _SCIPY_DTYPES, _bundle_of("coo"), **_PLANS),
    EntryPoint("Bundle.of CuPy csr", "csr", _SCIPY_DTYPES, _cupy, **_PLANS, devices=("cuda",)),
    EntryPoint("block_diag", "csr", _SCIPY_DTYPES, _batch(sptile.block_diag), **_PLANS),
    EntryPoint("vstack", "csr", _SCIPY_DTYPES, _batch(sptile.vstack), **_PLANS),
    EntryPoint("aslinearoperator", "csr", _SCIPY_DTYPES, _operator, lambda A, B: A @ B),
    EntryPoint("C", "csr", _FILE_DTYPES, _c_arrays, **_PLANS, sorted=True),
]
if torch is not None:
    ENTRY_POINTS += [
        EntryPoint("SparseMatrix", "csr", _TORCH_DTYPES, _sparse_matrix, **_OPERATORS),
        EntryPoint("from_edge_index", "coo", _TORCH_DTYPES, _edge_index, **_OPERATORS, square=True),
        EntryPoint(
            "from_torch coo",
            "coo",
            _SPARSE,
            lambda g, device: st.SparseMatrix.from_torch(_torch_coordinates(g, device)),
            **_OPERATORS,
        ),
        EntryPoint("from_torch csr", "csr", _SPARSE, _from_torch_csr, **_OPERATORS),
        EntryPoint(
            "from_scipy csr",
            "csr",
            _SCIPY_DTYPES,
            lambda g, _: st.SparseMatrix.from_scipy(_scipy(g, "csr")),
            **_OPERATORS | {"devices": ("cpu",)},
        ),
        EntryPoint("from_bundle", "coo", _FILE_DTYPES, _from_bundle, _torch_multiply),
        EntryPoint("transposed twice", "csr", _TORCH_DTYPES, _sparse_matrix, _torch_transposed_twice),
        EntryPoint("adj_t", "csr", _TORCH_DTYPES, _sparse_matrix, _torch_adjacency, devices=("cpu", "cuda")),
        EntryPoint("compiled", "csr", _TORCH_DTYPES, _sparse_matrix, _torch_compiled),
        EntryPoint("GINConv", "coo", (None,), _edge_index, _gin, True, devices=("cpu", "cuda")),
        EntryPoint("GINConv, compiled", "coo", (None,), _edge_index, _gin_compiled, True),
        EntryPoint("SparseLinear", "csr", _SPARSE, _sparse_linear, _linear, devices=("cpu", "cuda")),
        EntryPoint("SparseLinear, compiled", "csr", _SPARSE, _sparse_linear, _linear_compiled),
    ]
