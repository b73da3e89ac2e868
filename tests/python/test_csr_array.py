"""`sptile.csr_array` is SciPy's: its types, results and classes, whatever changes in place between two products."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import random_csr, random_dense
from sptile._plan import Plan

import sptile

ROWS, COLS = 60, 45
Dense = np.ndarray[Any, Any]


def plain(A: Any) -> sp.csr_array:
    return sp.csr_array((A.data.copy(), A.indices.copy(), A.indptr.copy()), shape=A.shape)


def products(A: Any, dtype: Any = np.float64, widths: tuple[int, ...] = (1, 3, 16, 40)) -> list[Dense]:
    """All kinds of products, with operands of several widths."""
    X, Y = random_dense(A.shape[1], 40, dtype), random_dense(A.shape[0], 40, dtype, seed=2)
    found = [A @ X[:, 0], A.T @ Y[:, 0], Y[:, 0] @ A, X[:, 0] @ A.T]
    for n in widths:
        found += [A @ X[:, :n], A.dot(X[:, :n]), A.T @ Y[:, :n], A.T.dot(Y[:, :n]), Y[:, :n].T @ A, X[:, :n].T @ A.T]
    return found


def check(A: Any, dtype: Any = np.float64) -> None:
    for found, expected in zip(products(A, dtype), products(plain(A), dtype), strict=True):
        assert type(found) is type(expected) and found.dtype == expected.dtype and found.shape == expected.shape
        assert np.allclose(found, expected, rtol=1e-4 if found.dtype == np.float32 else 1e-12, atol=1e-5 if found.dtype == np.float32 else 1e-12)


@pytest.fixture
def A(small: sp.csr_array) -> Any:
    return sptile.csr_array(small.copy())


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The plans that ran."""
    found: list[Any] = []
    run = Plan.__call__
    monkeypatch.setattr(Plan, "__call__", lambda self, *a, **k: found.append(self) or run(self, *a, **k))
    return found


# ---- Products ----


@pytest.mark.parametrize("operand", [np.float32, np.float64, np.int32, np.complex128, bool])
@pytest.mark.parametrize("values", [np.float32, np.float64, np.int64, np.complex64, bool])
def test_types_are_those_of_scipy(values: Any, operand: Any) -> None:
    A = sptile.csr_array(random_csr(ROWS, COLS).astype(values))
    check(A, operand)


def test_plans_multiply_and_are_kept(A: Any, runs: list[Any]) -> None:
    products(A)
    first = len(runs)
    kept = {id(plan) for plan in runs}
    assert first > 15 and {plan.transposed for plan in runs} == {False, True}
    products(A)
    assert len(runs) == 2 * first and {id(plan) for plan in runs} == kept


def test_a_transpose_shares_the_plans_both_ways(A: Any, runs: list[Any]) -> None:
    X = random_dense(COLS, 8, np.float64)
    B = A.T
    for product in (lambda: A @ X, lambda: B.T @ X, lambda: (X.T @ B).T, lambda: A.T.T.T.T @ X):
        assert np.allclose(product(), plain(A) @ X)
    assert len(runs) == 4 and len({id(plan) for plan in runs}) == 1
    assert isinstance(B, sp.csc_array) and B.shape == (COLS, ROWS) and np.shares_memory(B.data, A.data)


@pytest.mark.parametrize(
    "operand",
    [
        lambda B: np.asfortranarray(B),
        lambda B: np.repeat(B, 2, axis=0)[::2],
        lambda B: B[:, ::-1],
        lambda B: B.tolist(),
        lambda B: np.asmatrix(B),
        lambda B: B.astype(B.dtype.newbyteorder()),
        lambda B: B[:, :0],
        lambda B: sp.csr_array(B),
    ],
)
def test_operands_of_any_form_are_multiplied(A: Any, operand: Any) -> None:
    B = operand(random_dense(COLS, 8, np.float64))
    found, expected = A @ B, plain(A) @ B
    assert found.shape == expected.shape
    dense = (found.toarray(), expected.toarray()) if sp.issparse(found) else (found, expected)
    assert np.allclose(*dense) and type(found).__name__ == type(expected).__name__


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0), (5, 4)])
def test_matrices_without_entries(shape: tuple[int, int]) -> None:
    A = sptile.csr_array(shape)
    assert (A @ np.ones((shape[1], 6))).tolist() == np.zeros((shape[0], 6)).tolist()


def test_wrong_shapes_are_refused_as_by_scipy(A: Any) -> None:
    for product in (lambda: A @ np.ones((COLS + 1, 8)), lambda: A.T @ np.ones(COLS), lambda: np.ones((8, COLS)) @ A):
        with pytest.raises(ValueError, match="dimension mismatch"):
            product()
    with pytest.raises(ValueError, match="Scalar operands"):
        A @ 2.0


def test_vectors_of_one_dimension_are_scipys() -> None:
    v = sptile.csr_array(np.array([1.0, 0, 2]))
    assert v.ndim == 1 and v @ np.array([1.0, 1, 1]) == 3
    assert np.allclose(v @ np.ones((3, 8)), 3)


# ---- Changes ----


def scramble(A: Any) -> None:
    for begin, end in zip(A.indptr[:-1], A.indptr[1:], strict=True):
        A.indices[begin:end] = A.indices[begin:end][::-1].copy()


def move_row_pointer(A: Any) -> None:
    """Gives an entry to the row before."""
    row = int(np.flatnonzero(np.diff(A.indptr)[1:] > 0)[0]) + 1
    A.indptr[row] += 1


def replace_values(A: Any) -> None:
    A.data = A.data[::-1].copy()


CHANGES: dict[str, Any] = {
    "one value": lambda A: A.data.__setitem__(7, 99.0),
    "all values": lambda A: A.data.__imul__(-3),
    "values through another view": lambda A: A.T.data.__iadd__(1),
    "values to NaN": lambda A: A.data.__setitem__(0, np.nan),
    "new values": replace_values,
    "indices": lambda A: A.indices.__setitem__(slice(None), (A.indices + 1) % COLS),
    "indices out of order": scramble,
    "a row pointer": move_row_pointer,
    "an entry": lambda A: A.__setitem__((0, 0), 5.0),
    "entries become zero": lambda A: (A.data.__setitem__(slice(0, 40), 0), A.eliminate_zeros()),
    "duplicates are added": lambda A: (A.indices.__setitem__(slice(None), A.indices // 2), A.sum_duplicates()),
    "shape": lambda A: A.resize(ROWS - 20, COLS + 7),
    "type": lambda A: setattr(A, "data", A.data.astype(np.float32)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", ["sorted", "unsorted", "repeated", "int64"])
def test_a_change_is_seen_by_the_next_product(A: Any, kind: str, change: str) -> None:
    if kind == "unsorted":
        scramble(A)
        A.has_sorted_indices = False
    elif kind == "repeated":
        A.indices //= 2
        A.has_canonical_format = False
    elif kind == "int64":
        A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    for _ in range(2):
        products(A)
        CHANGES[change](A)
        for found, expected in zip(products(A), products(plain(A)), strict=True):
            assert np.allclose(found, expected, equal_nan=True)


def test_a_change_that_is_undone_is_seen_too(A: Any) -> None:
    first = A.data.copy()
    for values in (first, 2 * first, first, 2 * first):
        A.data[:] = values
        check(A)


def test_new_values_keep_the_plans(A: Any, runs: list[Any]) -> None:
    """They are read or refreshed: a change of the structure plans again."""
    products(A)
    kept = {id(plan) for plan in runs}
    A.data *= 2
    check(A)
    assert {id(plan) for plan in runs} == kept
    A.indptr[:] = A.indptr.copy()
    check(A)
    assert {id(plan) for plan in runs} == kept


def test_threads_multiply_one_array(A: Any) -> None:
    X, Y = random_dense(COLS, 20, np.float64), random_dense(ROWS, 20, np.float64)
    expected, failures = (plain(A) @ X, plain(A).T @ Y), []

    def work() -> None:
        for _ in range(50):
            if not (np.allclose(A @ X, expected[0]) and np.allclose(A.T @ Y, expected[1])):
                failures.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


# ---- Classes ----


def test_scipy_decides_which_results_keep_the_class(A: Any) -> None:
    for found in (A[3:20], A[:, :5], A + A, A * 2, -A, A.astype(np.float32), A.copy(), abs(A), A.multiply(A), A @ A.T):
        assert type(found) is sptile.csr_array and "_kept" not in found.__dict__
    for found, kind in ((A.tocsc(), sp.csc_array), (A.tocoo(), sp.coo_array)):
        assert type(found) is kind
    assert A.tocsr() is A and isinstance(A, sp.csr_array)
    assert isinstance(A.transpose(copy=True), sp.csc_array) and not np.shares_memory(A.transpose(copy=True).data, A.data)


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda A: pickle.loads(pickle.dumps(A))])
def test_copies_and_pickles_have_no_plans(A: Any, twin: Any) -> None:
    products(A)
    for one in (A, A.T):
        again = twin(one)
        assert type(again) is type(one) and "_kept" not in again.__dict__ and (again != one).nnz == 0
    again = twin(A)
    again.data = again.data * 2
    check(again)
    check(A)


def test_sptile_takes_the_array_and_its_transpose_like_scipys(A: Any) -> None:
    values = np.arange(1.0, A.nnz + 1)
    for own, other in ((A, plain(A)), (A.T, plain(A).T)):
        plans = [sptile.plan(one, 4, refreshable=True) for one in (own, other)]
        X = random_dense(own.shape[1], 4, np.float64)
        for plan in plans:
            plan.refresh(values)
        assert np.array_equal(plans[0] @ X, plans[1] @ X)


# ---- binsparse ----


@pytest.mark.parametrize(
    ("dtype", "name"),
    [(np.float32, "float32"), (np.int8, "int8"), (bool, "bint8"), (np.complex64, "complex[float32]"), (np.complex128, "complex[float64]")],
)
def test_the_descriptor_describes_the_arrays(dtype: Any, name: str) -> None:
    A = sptile.csr_array(random_csr(ROWS, COLS).astype(dtype))
    found, arrays = A.__binsparse_descriptor__()["binsparse"], A.__binsparse__()
    assert (found["version"], found["format"], found["shape"]) == ("0.1", "CSR", [ROWS, COLS])
    assert found["number_of_stored_values"] == A.nnz
    assert found["data_types"] == {"pointers_to_1": "int32", "indices_1": "int32", "values": name}
    again = sp.csr_array((arrays["values"], arrays["indices_1"], arrays["pointers_to_1"]), shape=tuple(found["shape"]))
    assert (again != A).nnz == 0


def test_binsparse_arrays_are_sorted_without_duplicates() -> None:
    A = sptile.csr_array((np.array([1.0, 2, 3]), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
    arrays = A.__binsparse__()
    assert arrays["indices_1"].tolist() == [0, 1] and arrays["values"].tolist() == [2, 4]
    assert A.__binsparse_descriptor__()["binsparse"]["number_of_stored_values"] == 2 and A.nnz == 3
