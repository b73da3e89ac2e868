"""Lists with a number for each entry are in the order in which the caller gave the entries, whatever the kind of
matrix; repeated entries are added up in values and have a score and a weight each."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
import sptile

KINDS = ["csr", "csc", "coo", "bsr", "lil", "dok"]
REPEATING = ["csr", "csc", "coo", "bsr"]
TOLERANCE = {"float32": {"rtol": 1e-4, "atol": 1e-5}, "float64": {"rtol": 1e-12, "atol": 1e-13}}


def compressed(kind: Any, major: Any, minor: Any, values: Any, shape: tuple[int, int]) -> Any:
    """CSR or CSC with the entries of each line in the order given."""
    order = np.argsort(major, kind="stable")
    lines = shape[0] if kind is sp.csr_array else shape[1]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(major, minlength=lines))])
    return kind((values[order], minor[order], offsets), shape=shape)


def matrix_of(kind: str, repeated: bool, dtype: Any, seed: int = 0, shape: tuple[int, int] = (8, 6)) -> Any:
    """A matrix whose entries are out of order where the kind allows it."""
    rng, (rows, cols), nnz = np.random.default_rng(seed), shape, 25
    places = rng.integers(0, rows * cols // 3, nnz) if repeated else rng.permutation(rows * cols)[:nnz]
    row, col, values = places // cols, places % cols, rng.uniform(-1, 1, nnz).astype(dtype)
    if kind == "csr":
        return compressed(sp.csr_array, row, col, values, shape)
    if kind == "csc":
        return compressed(sp.csc_array, col, row, values, shape)
    if kind == "coo":
        return sp.coo_array((values, (row, col)), shape=shape)
    if kind == "bsr":
        blocks = np.array([2, 0, 1, 1, 0, 2] if not repeated else [2, 0, 2, 1, 1, 0])
        data = rng.uniform(-1, 1, (6, 2, 2)).astype(dtype)
        return sp.bsr_array((data, blocks, [0, 2, 3, 3, 6]), shape=shape)
    whole = sp.coo_array((values, (row, col)), shape=shape)
    if kind == "lil":
        return whole.tolil()
    items = sp.dok_array(shape, dtype=dtype)
    for r, c, v in zip(row, col, values, strict=True):
        items[int(r), int(c)] = v
    return items


class Entries(NamedTuple):
    """Entries in the order in which a matrix has them."""

    row: Any
    col: Any
    values: Any

    @classmethod
    def of(cls, A: Any) -> Entries:
        if A.format in ("csr", "csc"):
            line = np.repeat(np.arange(len(A.indptr) - 1), np.diff(A.indptr))
            return cls(line, A.indices, A.data) if A.format == "csr" else cls(A.indices, line, A.data)
        if A.format == "coo":
            return cls(A.row, A.col, A.data)
        if A.format == "bsr":
            places = [
                (2 * i + a, 2 * A.indices[k] + b)
                for i in range(len(A.indptr) - 1)
                for k in range(A.indptr[i], A.indptr[i + 1])
                for a in range(2)
                for b in range(2)
            ]
            return cls(*np.array(places).T, A.data.ravel())
        if A.format == "lil":
            found = [(i, j, v) for i in range(A.shape[0]) for j, v in zip(A.rows[i], A.data[i], strict=True)]
        else:
            found = [(*place, value) for place, value in A.items()]
        row, col, values = zip(*found, strict=True)
        return cls(np.array(row), np.array(col), np.array(values, A.dtype))

    def dense(self, shape: tuple[int, int], values: Any = None) -> Any:
        """The matrix, in double."""
        whole = np.zeros(shape)
        np.add.at(whole, (self.row, self.col), (self.values if values is None else values).astype(float))
        return whole

    def softmax(self, scores: Any, rows: int) -> Any:
        weights = np.exp(scores)
        return weights / np.bincount(self.row, weights, rows)[self.row]

    def sum_by(self, lines: Any, numbers: Any, count: int) -> Any:
        total = np.zeros((count, *numbers.shape[1:]))
        np.add.at(total, lines, numbers)
        return total


def operands(A: Any, dtype: Any, n: int = 3) -> tuple[Any, Any]:
    rng = np.random.default_rng(7)
    return tuple(rng.uniform(-1, 1, (lines, n)).astype(dtype) for lines in A.shape)  # type: ignore[return-value]


CASES = [(kind, False) for kind in KINDS] + [(kind, True) for kind in REPEATING]


@pytest.fixture(params=CASES, ids=lambda case: case[0] + (" repeated" if case[1] else ""))
def case(request: pytest.FixtureRequest) -> tuple[str, bool]:
    return request.param


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_and_dot_products(case: tuple[str, bool], dtype: str) -> None:
    A = matrix_of(*case, dtype)
    entries, close = Entries.of(A), TOLERANCE[dtype]
    X, Y = operands(A, dtype)
    dots = (X[entries.row].astype(float) * Y[entries.col]).sum(1)
    assert np.allclose(sptile.spmm(A, Y), entries.dense(A.shape) @ Y, **close)
    assert np.allclose(sptile.sddmm(A, X, Y), dots, **close)
    assert np.allclose(sptile.sddmm(A, X, Y, scaled=True), dots * entries.values, **close)
    plan = sptile.plan(A, 3, op="sddmm")
    for scaled in (False, True):
        out = np.linspace(-1, 1, len(dots)).astype(dtype)
        right = 2 * dots * (entries.values if scaled else 1) - 0.5 * out.astype(float)
        assert plan.sddmm(X, Y, out, alpha=2, beta=-0.5, scaled=scaled) is out
        assert np.allclose(out, right, **close)
    out = np.full(len(dots), np.nan, dtype)
    assert np.allclose(plan.sddmm(X, Y, out), dots, **close)  # old contents do not matter
    with pytest.raises(sptile.UsageError, match="out must have shape"):
        plan.sddmm(X, Y, np.zeros(len(dots) + 1, dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_new_values(case: tuple[str, bool], dtype: str) -> None:
    A = matrix_of(*case, dtype)
    entries, close = Entries.of(A), TOLERANCE[dtype]
    X, Y = operands(A, dtype)
    fresh = np.random.default_rng(3).uniform(-1, 1, len(entries.values)).astype(dtype)
    bundle, right = sptile.Bundle.of(A), entries.dense(A.shape, fresh)
    plan = bundle.plan(3, refreshable=True)
    back = bundle.plan(3, refreshable=True, transpose=True)
    dots = bundle.plan(3, refreshable=True, op="sddmm")
    plan.refresh(fresh)
    assert np.allclose(plan(Y), right @ Y, **close)
    assert np.allclose(back(X), right.T @ X, **close)
    expected = (X[entries.row].astype(float) * Y[entries.col]).sum(1) * fresh
    assert np.allclose(dots.sddmm(X, Y, scaled=True), expected, **close)
    back.refresh(np.repeat(2 * fresh, 2)[::2])  # through another plan, with gaps
    assert np.allclose(plan(Y), 2 * right @ Y, **close)
    with pytest.raises(sptile.UsageError, match="values must have shape"):
        plan.refresh(fresh[1:])
    # Of one run.
    assert np.allclose(bundle.plan(3).run(Y, values=fresh), right @ Y, **close)
    both = bundle.plan(3, heads=2).run(np.stack([Y, Y]), values=np.stack([fresh, -fresh]))
    assert np.allclose(both, np.stack([right @ Y, -right @ Y]), **close)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("biased", [False, True])
def test_attention_and_its_gradients(case: tuple[str, bool], dtype: str, biased: bool) -> None:
    A = matrix_of(*case, dtype)
    entries = Entries.of(A)
    close = {"rtol": 1e-3, "atol": 1e-5} if dtype == "float32" else {"rtol": 1e-12, "atol": 1e-14}
    (rows, cols), (row, col) = A.shape, entries[:2]
    rng = np.random.default_rng(5)
    X, Y = operands(A, dtype)
    V, dout = rng.uniform(-1, 1, (cols, 2)).astype(dtype), rng.uniform(-1, 1, (rows, 2)).astype(dtype)
    bias = rng.uniform(-2, 2, len(row)).astype(dtype) if biased else None
    x, y, v, d = (a.astype(float) for a in (X, Y, V, dout))
    P = entries.softmax(0.7 * (x[row] * y[col]).sum(1) + (0 if bias is None else bias.astype(float)), rows)
    out = entries.sum_by(row, P[:, None] * v[col], rows)
    dP = (d[row] * v[col]).sum(1)
    dS = P * (dP - entries.sum_by(row, P * dP, rows)[row])

    bundle = sptile.Bundle.of(A)
    statistics = np.empty((rows, 2), dtype)
    forward = bundle.plan(3, op="attention", m=2)
    got = forward.run(X, Y, V, bias, alpha=0.7)
    assert np.allclose(got, out, **close)
    forward.run(X, Y, V, bias, statistics, got, alpha=0.7)
    gradient = bundle.plan(3, op="attention_gradient", m=2)
    dbias = np.empty(len(row), dtype)
    delta, _, dX = gradient.run(X, Y, V, bias, statistics, got, dout, None, dbias, alpha=0.7)
    assert np.allclose(dbias, dS, **close)
    assert np.allclose(dX, entries.sum_by(row, 0.7 * dS[:, None] * y[col], rows), **close)
    back = bundle.plan(3, op="attention_gradient_t", m=2, transpose=True)
    if bias is not None:  # lists of the transpose have its order, which is not that of A
        if bundle._handle(False).order is not None:
            with pytest.raises(sptile.UsageError, match="transpose=True requires"):
                back.run(X, Y, V, bias, statistics, dout, delta, alpha=0.7)
        return
    dV, dY = back.run(X, Y, V, None, statistics, dout, delta, alpha=0.7)
    assert np.allclose(dV, entries.sum_by(col, P[:, None] * d[row], cols), **close)
    assert np.allclose(dY, entries.sum_by(col, 0.7 * dS[:, None] * x[row], cols), **close)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_softmax_and_its_gradient(case: tuple[str, bool], dtype: str) -> None:
    A = matrix_of(*case, dtype)
    entries, close, rows = Entries.of(A), TOLERANCE[dtype], A.shape[0]
    rng = np.random.default_rng(6)
    S, dP = (rng.uniform(-3, 3, len(entries.row)).astype(dtype) for _ in range(2))
    P = entries.softmax(0.5 * S.astype(float), rows)
    bundle = sptile.Bundle.of(A)
    got = bundle.plan(1, op="softmax_rows").run(S, alpha=0.5)
    assert np.allclose(got, P, **close)
    dS = 0.5 * P * (dP - entries.sum_by(entries.row, P * dP, rows)[entries.row])
    assert np.allclose(bundle.plan(1, op="softmax_rows_gradient").run(got, dP, alpha=0.5), dS, **close)


def test_parallel_edges_share_what_masks_and_large_scores_leave() -> None:
    A = sp.csr_array((np.ones(6), [1, 0, 1, 1, 0, 0], [0, 4, 6]), shape=(2, 2))
    softmax = sptile.plan(A, 1, op="softmax_rows")
    masked = -np.inf
    assert softmax.run(np.array([masked, 0, masked, 0, masked, masked])).tolist() == [0, 0.5, 0, 0.5, 0, 0]
    large = softmax.run(np.array([1e4, 1e4, 1e4, -1e4, 0, 0]))
    assert np.allclose(large, [1 / 3, 1 / 3, 1 / 3, 0, 0.5, 0.5], rtol=1e-12, atol=0)
    assert np.isnan(softmax.run(np.array([np.nan, 0, 0, 0, 0, 0]))).tolist() == [True] * 4 + [False] * 2
    P, dP = np.array([0, 0.5, 0, 0.5, 0, 0]), np.arange(6.0)
    gradient = sptile.plan(A, 1, op="softmax_rows_gradient").run(P, dP)
    assert gradient.tolist() == [0, -0.5, 0, 0.5, 0, 0]


@pytest.mark.parametrize("join", [sptile.block_diag, sptile.vstack])
@pytest.mark.parametrize("repeated", [False, True])
def test_batches(join: Any, repeated: bool) -> None:
    members = [
        matrix_of("csc", repeated, np.float64, 1),
        sp.csr_array(np.eye(4, 6)),  # in order
        matrix_of("coo", False, np.float64, 2),
    ]
    # A batch in a batch keeps the order, too.
    batch = join([join(members[:2]), members[2]])
    lists = [Entries.of(A) for A in members]
    values = np.concatenate([one.values for one in lists])
    row = np.concatenate([one.row + begin for one, begin in zip(lists, (0, 8, 12), strict=True)])
    begins = (0, 6, 12) if join is sptile.block_diag else (0, 0, 0)
    col = np.concatenate([one.col + begin for one, begin in zip(lists, begins, strict=True)])
    entries = Entries(row, col, values)
    X, Y = operands(batch, np.float64)
    dots = (X[row] * Y[col]).sum(1)
    plan = batch.plan(3, op="sddmm", refreshable=True)
    assert np.allclose(plan.sddmm(X, Y, scaled=True), dots * values)
    fresh = np.random.default_rng(8).uniform(-1, 1, len(values))
    plan.refresh(fresh)
    product = batch.plan(3, refreshable=True)
    assert np.allclose(product(Y), entries.dense(batch.shape, fresh) @ Y)
    assert np.allclose(plan.sddmm(X, Y, scaled=True), dots * fresh)


def test_packed_order_is_that_of_the_format() -> None:
    A = matrix_of("csr", True, np.float64)
    whole = A.copy()
    whole.sum_duplicates()
    X, Y = operands(A, np.float64)
    plan = sptile.Bundle.of(A).plan(3, op="sddmm", order="packed", refreshable=True)
    dots = plan.sddmm(X, Y)
    assert np.allclose(dots, sptile.sddmm(whole, X, Y))
    plan.refresh(dots, order="packed")
    assert np.allclose(plan.sddmm(X, Y, scaled=True), dots**2)
    # What each repeated entry has of it is not known.
    with pytest.raises(sptile.UsageError, match="order='packed'"):
        copied = sptile.Bundle.of(A)
        packed = copied.plan(3, op="sddmm", refreshable=True)
        packed.refresh(dots, order="packed")
        packed.sddmm(X, Y, scaled=True)


def test_a_diagonal_matrix_has_no_list_of_entries() -> None:
    A = sp.diags_array([[1.0, 2, 0], [4.0, 5]], offsets=[0, 1], shape=(3, 3))
    X = np.arange(6.0).reshape(3, 2)
    bundle = sptile.Bundle.of(A)
    assert np.allclose(bundle.plan(2)(X), A @ X)
    for refused in (
        lambda: sptile.sddmm(A, X, X),
        lambda: bundle.plan(2, refreshable=True).refresh(np.ones(bundle.nnz)),
        lambda: bundle.plan(2, op="attention").run(X, X, X, np.ones(bundle.nnz)),
        lambda: sptile.block_diag([A, A]).plan(2, op="sddmm").sddmm(np.ones((6, 2)), np.ones((6, 2))),
    ):
        with pytest.raises(sptile.UsageError, match=r"pass A\.tocsr"):
            refused()
    assert np.isfinite(bundle.plan(2, op="attention").run(X, X, X)).all()


@pytest.mark.parametrize("kind", REPEATING)
def test_repeated_float32_entries_are_added_in_double(kind: str) -> None:
    big, small = np.float32(2**25), np.float32(1)
    values = np.array([big, small, small, small, -big], np.float32)
    at = np.zeros(5, int)
    A = {
        "csr": lambda: sp.csr_array((values, at, [0, 5]), shape=(1, 1)),
        "csc": lambda: sp.csc_array((values, at, [0, 5]), shape=(1, 1)),
        "coo": lambda: sp.coo_array((values, (at, at)), shape=(1, 1)),
        "bsr": lambda: sp.bsr_array((values.reshape(5, 1, 1), at, [0, 5]), shape=(1, 1)),
    }[kind]()
    plan = sptile.Bundle.of(A).plan(1, refreshable=True)
    assert plan(np.ones(1, np.float32)).tolist() == [3]
    plan.refresh(2 * values)
    assert plan(np.ones(1, np.float32)).tolist() == [6]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_repeated_entries_of_16_bits_are_added_in_double(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    kind = getattr(torch, dtype)
    values = torch.tensor([2048.0] + [1.0] * 16 + [3.0], dtype=kind)
    columns = torch.tensor([1] + [1] * 16 + [0])
    A = torch.sparse_csr_tensor(torch.tensor([0, 18]), columns, values, size=(1, 2))
    plan = sptile.plan(A, 1, result="float32", refreshable=True)
    x = torch.eye(2, dtype=kind)[1]
    assert plan(x).item() == 2064
    dots = sptile.plan(A, 1, op="sddmm").sddmm(torch.ones(1, 1, dtype=kind), torch.tensor([[3.0], [5]], dtype=kind))
    assert dots.dtype == kind and dots.tolist() == [5.0] * 17 + [3.0]
    plan.refresh(2 * values)
    assert plan(x).item() == 4128


def test_torch_lists() -> None:
    torch = pytest.importorskip("torch")
    for repeated in (False, True):
        A = matrix_of("csr", repeated, np.float64)
        entries = Entries.of(A)
        tensor = torch.sparse_csr_tensor(
            torch.tensor(A.indptr), torch.tensor(A.indices), torch.tensor(A.data), size=A.shape
        )
        X, Y = (torch.tensor(a) for a in operands(A, np.float64))
        dots = (X[entries.row] * Y[entries.col]).sum(1)
        got = sptile.sddmm(tensor, X, Y, scaled=True)
        assert isinstance(got, torch.Tensor) and torch.allclose(got, dots * torch.tensor(A.data))
        bias = torch.linspace(-1, 1, len(dots), dtype=torch.float64)
        out = sptile.plan(tensor, 3, op="attention").run(X, Y, Y, bias)
        P = entries.softmax((dots + bias).numpy(), 8)
        assert np.allclose(out.numpy(), entries.sum_by(entries.row, P[:, None] * Y.numpy()[entries.col], 8))


def test_the_matrix_is_not_changed_and_entries_in_order_are_borrowed() -> None:
    for kind in REPEATING:
        A = matrix_of(kind, True, np.float64)
        before = Entries(*(np.array(part) for part in Entries.of(A)))
        sptile.Bundle.of(A).plan(1, refreshable=True).refresh(np.zeros(len(before.row)))
        assert all(np.array_equal(a, b) for a, b in zip(before, Entries.of(A), strict=True))
    A = sp.coo_array(sp.csr_array(np.eye(3)))
    assert np.shares_memory(sptile.Bundle.of(A).csr().values, A.data)
    assert not np.shares_memory(sptile.Bundle.of(A, copy=True).csr().values, A.data)


@pytest.mark.parametrize(
    ("matrix", "error", "message"),
    [
        (sp.coo_array((np.ones(2), ([0, 1], [1, 0])), shape=(2, 2)), sptile.BadInputError, "row ids of A are from"),
        (sp.csc_array(np.eye(3)), sptile.BadInputError, "row ids of A are from 9 to 9"),
        (sp.bsr_array(np.eye(4)), sptile.BadInputError, "column ids of A are from"),
    ],
)
def test_damaged_entries_are_refused(matrix: Any, error: type[Exception], message: str) -> None:
    if matrix.format == "coo":
        matrix.coords = (np.array([0, 5]), np.array([1, 0]))
    else:
        matrix.indices = np.full_like(matrix.indices, 9)
    with pytest.raises(error, match=message):
        sptile.Bundle.of(matrix)
    matrix = sp.csc_array(np.eye(3))
    matrix.indptr = np.array([0, 2, 1, 3])
    with pytest.raises(sptile.BadInputError, match="column pointers"):
        sptile.Bundle.of(matrix)


@pytest.mark.parametrize("in_memory", [True, False])
def test_a_converted_matrix_keeps_the_order_of_its_entries(
    case: tuple[str, bool], in_memory: bool, tmp_path: Path
) -> None:
    A = matrix_of(*case, np.float64)
    entries, (X, Y) = Entries.of(A), operands(A, np.float64)
    path = None if in_memory else tmp_path / "a.h5"
    bundle = sptile.convert(A, path, dtype="float64", refreshable=True, formats="bittcf", reorder="degree")
    dots = (X[entries.row] * Y[entries.col]).sum(1)
    fresh = np.random.default_rng(3).uniform(-1, 1, len(entries.values))
    for one in (bundle, pickle.loads(pickle.dumps(bundle)), copy.deepcopy(bundle)):
        for format in ("csr", "bittcf"):
            plan = one.plan(3, op="sddmm", format=format, refreshable=True)
            assert np.allclose(plan.sddmm(X, Y), dots)
        product = one.plan(3, format="bittcf", refreshable=True)
        product.refresh(fresh)
        assert np.allclose(product(Y), entries.dense(A.shape, fresh) @ Y)
        assert np.allclose(one.plan(3, op="sddmm").sddmm(X, Y, scaled=True), dots * entries.values)
    if not in_memory:  # which has no caller's order
        whole = sp.csr_array(A) if A.format != "csr" else A.copy()
        whole.sum_duplicates()
        assert np.allclose(sptile.open(path).plan(3, op="sddmm").sddmm(X, Y), sptile.sddmm(whole, X, Y))


def test_converted_tensors_and_integers_keep_the_order_of_their_entries() -> None:
    torch = pytest.importorskip("torch")
    A = matrix_of("coo", True, np.float64)
    (row, col, values), (X, Y) = Entries.of(A), operands(A, np.float64)
    tensor = torch.sparse_coo_tensor(np.array([row, col]), values, A.shape)
    dots = (X[row] * Y[col]).sum(1)
    truths = sp.coo_array((values > 9, (row, col)), A.shape)
    for source, own in ((tensor, (row, col)), (tensor.to_sparse_csc(), None), (truths, (row, col))):
        got = sptile.convert(source, dtype="float64", formats="csr").plan(3, op="sddmm").sddmm(X, Y)
        if own is None:
            line = np.repeat(np.arange(6), np.diff(source.ccol_indices()))
            assert np.allclose(got, (X[source.row_indices()] * Y[line]).sum(1))
        else:
            assert np.allclose(got, dots)
    for unordered in (tensor.to_dense().to_sparse_bsr((2, 2)), sp.dia_array(A)):
        with pytest.raises(sptile.UsageError, match="is undefined"):
            sptile.convert(unordered, dtype="float64", formats="csr").plan(3, op="sddmm").sddmm(X, Y)
