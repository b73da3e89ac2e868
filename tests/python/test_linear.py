"""Call path of linear operators, plans and bundles with NumPy operands: what the repeated product bypasses, `out`, and
operands that must not be bypassed."""

import pickle
import threading
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
import sptile
from conftest import random_csr, random_dense
from sptile import _linear
from sptile._plan import Plan

ROWS, COLS = 60, 45
METHODS = ("matvec", "rmatvec", "matmat", "rmatmat")


def operand(method: str, dtype: Any = np.float64, rows: int = ROWS, cols: int = COLS, width: int = 5) -> np.ndarray:
    size = rows if method.startswith("r") else cols
    return random_dense(size, width, dtype) if method.endswith("mat") else random_dense(size, 1, dtype)[:, 0].copy()


def expected(A: sp.csr_array, method: str, x: np.ndarray) -> np.ndarray:
    return (A.T if method.startswith("r") else A) @ x


@pytest.fixture
def no_checks(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Makes every slower path fail from the call on."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("the operands were checked again")

    def start() -> None:
        for name in (*METHODS, "dot", "__matmul__", "__mul__", "__call__"):
            monkeypatch.setattr(sla.LinearOperator, name, refuse)
        monkeypatch.setattr(Plan, "_run", refuse)
        monkeypatch.setattr(_linear._Side, "product", refuse)
        monkeypatch.setattr(sptile.Bundle, "_multiply", refuse)

    return start


# ---- The repeated product ----


@pytest.mark.parametrize("values, dtype", [("f4", "f4"), ("f8", "f8"), ("f4", "f8"), ("f2", "f4")])
@pytest.mark.parametrize("method", METHODS)
def test_only_the_first_product_is_checked(
    small: sp.csr_array, values: str, dtype: str, method: str, no_checks: Callable[[], None]
) -> None:
    A = small.astype(np.float32 if values == "f2" else values)
    A.data = A.data.astype(values)
    operator = sptile.aslinearoperator(A)
    x = operand(method, dtype)
    first = getattr(operator, method)(x)
    no_checks()
    out = np.full_like(first, np.nan)
    assert getattr(operator, method)(x, out=out) is out and np.array_equal(out, first)
    assert np.array_equal(getattr(operator, method)(x), first)
    x.flags.writeable = False
    assert np.array_equal(getattr(operator, method)(x), first)


@pytest.mark.parametrize("width", [0, 1, 5])
def test_operator_signs_bypass_the_checks_too(
    small: sp.csr_array, width: int, no_checks: Callable[[], None]
) -> None:
    operator, x = sptile.aslinearoperator(small), operand("matmat", width=width) if width else operand("matvec")
    first = operator @ x
    no_checks()
    for again in (operator @ x, operator * x, operator.dot(x), operator(x), operator.T.T @ x):
        assert np.array_equal(again, first)


def test_vectors_and_matrices_in_turn_bypass_the_checks(
    small: sp.csr_array, no_checks: Callable[[], None]
) -> None:
    operator, plan, bundle = sptile.aslinearoperator(small), sptile.plan(small, 8), sptile.Bundle.of(small)
    operands = [*(random_dense(COLS, width, np.float64) for width in (8, 3, 1)), operand("matvec")]
    multiply = (operator.__matmul__, plan.__matmul__, plan.__call__, bundle.__matmul__)
    first = [[product(x) for x in operands] for product in multiply]
    no_checks()
    for product, results in zip(multiply, first, strict=True):
        for x, result in zip(operands, results, strict=True):
            assert np.array_equal(product(x), result) and np.allclose(result, small @ x)


def test_types_in_turn_convert_the_values_once(small: sp.csr_array, monkeypatch: pytest.MonkeyPatch) -> None:
    A = small.astype(np.float32)
    operator = sptile.aslinearoperator(A)
    made: list[Any] = []
    original = _linear._Sides._make
    monkeypatch.setattr(_linear._Sides, "_make", lambda self, *key: made.append(key) or original(self, *key))
    for _ in range(3):
        for dtype in (np.float32, np.float64):
            x = operand("matvec", dtype)
            got = operator.matvec(x)
            assert got.dtype == dtype and np.allclose(got, A.astype(dtype) @ x, rtol=1e-4 if dtype == np.float32 else 1e-12)
    assert len(made) == 2


def test_a_scaled_product_does_not_change_the_next(small: sp.csr_array) -> None:
    plan, x = sptile.plan(small, 1), operand("matvec")
    first = plan(x)
    out = np.ones(ROWS)
    plan(x, out=out, alpha=2.0, beta=-3.0)
    assert np.allclose(out, 2 * first - 3)
    with pytest.raises(sptile.ArgumentTypeError, match="alpha and beta must be numbers"):
        plan(x, out=out, alpha="1")
    assert np.array_equal(plan(x), first)


# ---- out ----


@pytest.mark.parametrize("method", METHODS)
def test_products_with_out_allocate_no_memory_for_results(method: str) -> None:
    A = sp.random_array((20000, 15000), density=1e-4, format="csr", rng=np.random.default_rng(0))
    operator = sptile.aslinearoperator(A, threads=1)
    x = operand(method, rows=20000, cols=15000, width=2)
    out = getattr(operator, method)(x)
    tracemalloc.start()
    try:
        getattr(operator, method)(x, out=out)
        _, with_out = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        getattr(operator, method)(x)
        _, without = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert with_out < 10_000 < out.nbytes <= without


@pytest.mark.parametrize("code", "ldfFD")
@pytest.mark.parametrize("method", METHODS)
def test_out_of_every_type(small: sp.csr_array, code: str, method: str) -> None:
    operator, x = sptile.aslinearoperator(small.astype(np.float32)), operand(method, np.float64)
    x = (100 * x).astype(code)
    first = getattr(operator, method)(x)
    out = np.full_like(first, np.nan)
    assert getattr(operator, method)(x, out=out) is out
    assert np.array_equal(out, first)


def test_out_of_a_column_and_of_a_matrix_object(small: sp.csr_array) -> None:
    operator = sptile.aslinearoperator(small)
    column, out = random_dense(COLS, 1, np.float64), np.zeros((ROWS, 1))
    for x in (column, np.asmatrix(column)):
        assert operator.matvec(x, out=out) is out and np.allclose(out, small @ column)
    apart = np.zeros((ROWS, 3))
    assert np.allclose(operator.matvec(column[:, 0], out=apart[:, 1]), small @ column[:, 0])
    assert np.allclose(apart[:, 1], small @ column[:, 0]) and not apart[:, [0, 2]].any()


def misaligned(array: np.ndarray) -> np.ndarray:
    """A copy one byte after an aligned address."""
    room = np.zeros(array.nbytes + 1, np.uint8)[1:]
    copy = room.view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("repeated", [False, True])
def test_wrong_out_is_refused(small: sp.csr_array, repeated: bool) -> None:
    operator, plan, x = sptile.aslinearoperator(small), sptile.plan(small, 1), operand("matvec")
    if repeated:
        operator.matvec(x)
        plan(x)
    both = np.zeros(ROWS + COLS)
    for vector, out, message in (
        (x, np.zeros(ROWS, np.float32), "C must be float64, got float32"),
        (x, np.zeros(ROWS + 1), "shape"),
        (x, np.zeros((ROWS, 1)), "shape"),
        (x, read_only(np.zeros(ROWS)), "read-only"),
        (x, misaligned(np.zeros(ROWS)), "not aligned"),
        (x, np.zeros(2 * ROWS)[::-2], "stride"),
        (both[:COLS], both[COLS - 1 : -1], "overlaps"),
        (both[-COLS:], both[:ROWS][::1], None),
        (x.astype(complex), np.zeros(ROWS), "out must be a NumPy array of type complex128"),
        (x.astype(complex), np.zeros(COLS, complex), "shape"),
    ):
        for product in (operator.matvec, plan):
            if message is None:
                assert product(vector, out) is out
            elif product is operator.matvec or vector.dtype == np.float64:
                with pytest.raises(sptile.UsageError, match=message):
                    product(vector, out)


# ---- Operands that need a check ----


def variants(x: np.ndarray) -> dict[str, np.ndarray]:
    wide = np.repeat(x[:, None], 2, axis=1)
    return {
        "strided": wide[:, 0],
        "backwards": x[::-1].copy()[::-1],
        "misaligned": misaligned(x),
        "big-endian": x.astype(x.dtype.newbyteorder()),
        "column": x[:, None],
        "Fortran": np.asfortranarray(wide),
        "list": x.tolist(),
        "matrix": np.asmatrix(x[:, None]),
        "subclass": x.view(type("Sub", (np.ndarray,), {})),
        "read-only": read_only(x.copy()),
    }


@pytest.mark.parametrize("kind", list(variants(np.zeros(2))))
def test_other_operands_after_a_product(small: sp.csr_array, kind: str) -> None:
    operator, x = sptile.aslinearoperator(small), operand("matvec")
    operator @ x
    operator @ random_dense(COLS, 2, np.float64)
    right, given = sla.aslinearoperator(small), variants(x)[kind]
    for _ in range(2):
        got, wanted = operator @ given, right @ given
        assert got.shape == wanted.shape and got.dtype == wanted.dtype
        assert np.allclose(got, wanted, rtol=1e-12, atol=1e-12)
        column = given if np.ndim(given) == 1 or np.shape(given)[1] == 1 else None
        if column is not None:
            got, wanted = operator.matvec(given), right.matvec(given)
            assert type(got) is type(wanted) and got.shape == wanted.shape


def test_wrong_operands_raise_as_with_scipy(small: sp.csr_array) -> None:
    operator, right = sptile.aslinearoperator(small), sla.aslinearoperator(small)
    operator.matvec(operand("matvec"))
    operator.matmat(operand("matmat"))
    for method, x in (
        ("matvec", np.ones(COLS + 1)),
        ("matvec", np.ones((COLS, 2))),
        ("rmatvec", np.ones(COLS)),
        ("matmat", np.ones(COLS)),
        ("matmat", np.ones((COLS + 1, 5))),
        ("rmatmat", np.ones((COLS, 5))),
        ("dot", np.ones((COLS, 2, 2))),
        ("__matmul__", 2.0),
    ):
        with pytest.raises(ValueError) as theirs:
            getattr(right, method)(x)
        with pytest.raises(ValueError) as ours:
            getattr(operator, method)(x)
        assert str(ours.value) == str(theirs.value)
        if method in METHODS:
            with pytest.raises(ValueError):
                getattr(operator, method)(x, out=np.zeros(ROWS))
    assert np.allclose((2 * operator + operator.T.T) @ np.ones(COLS), 3 * small @ np.ones(COLS))


@pytest.mark.parametrize("rows, cols", [(0, 4), (4, 0), (0, 0), (1, 1)])
def test_empty_matrices(rows: int, cols: int) -> None:
    operator = sptile.aslinearoperator(sp.csr_array((rows, cols)))
    for _ in range(2):
        assert np.array_equal(operator @ np.ones(cols), np.zeros(rows))
        assert np.array_equal(operator.rmatmat(np.ones((rows, 3))), np.zeros((cols, 3)))
        out = np.ones(rows)
        assert operator.matvec(np.ones(cols), out=out) is out and not out.any()


def test_closed_plans_and_bundles_raise_after_a_product(small: sp.csr_array) -> None:
    bundle, x = sptile.Bundle.of(small), operand("matvec")
    plan = bundle.plan(1)
    for product in (plan, bundle.__matmul__):
        assert np.allclose(product(x), small @ x)
    plan.close()
    bundle.close()
    for product in (plan, plan.__matmul__, bundle.__matmul__):
        with pytest.raises(sptile.UsageError, match="closed"):
            product(x)


def test_pickles_after_a_product(small: sp.csr_array) -> None:
    x = operand("matvec")
    for made in (sptile.Bundle.of(small), sptile.plan(small, 1), sptile.aslinearoperator(small)):
        first = made @ x
        assert np.array_equal(pickle.loads(pickle.dumps(made)) @ x, first)


def test_threads_multiply_vectors_of_their_own() -> None:
    A = random_csr(300, 200, 0.1, np.float64)
    operator = sptile.aslinearoperator(A, threads=1)
    vectors = np.random.default_rng(0).standard_normal((4, 200))
    right = [A @ x for x in vectors]
    wrong: list[int] = []
    ready = threading.Barrier(4)

    def work(i: int) -> None:
        ready.wait()
        out = np.empty(300)
        for _ in range(200):
            if not np.allclose(operator.matvec(vectors[i]), right[i]):
                wrong.append(i)
            if not np.allclose(operator.matvec(vectors[i], out=out), right[i]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# ---- Solvers ----


@pytest.mark.parametrize("name", ["cg", "gmres", "minres", "lobpcg", "eigsh", "svds"])
def test_solvers_find_what_they_find_with_the_matrix_of_scipy(name: str) -> None:
    side = 12
    line = sp.diags_array([-1.0, 2.1, -1.0], offsets=[-1, 0, 1], shape=(side, side))
    A = sp.csr_array(sp.kronsum(line, line))
    b = np.random.default_rng(0).standard_normal(side * side)
    solve: dict[str, Callable[[Any], Any]] = {
        "cg": lambda M: sla.cg(M, b, rtol=1e-12)[0],
        "gmres": lambda M: sla.gmres(M, b, rtol=1e-12, restart=150)[0],
        "minres": lambda M: sla.minres(M, b, rtol=1e-12)[0],
        "lobpcg": lambda M: np.sort(sla.lobpcg(M, np.eye(side * side, 3) + b[:, None], tol=1e-8, maxiter=200)[0]),
        "eigsh": lambda M: np.sort(sla.eigsh(M, 4, v0=b)[0]),
        "svds": lambda M: np.sort(sla.svds(M, 3, v0=b)[1]),
    }
    found, wanted = solve[name](sptile.aslinearoperator(A)), solve[name](A)
    assert np.allclose(found, wanted, rtol=1e-7, atol=1e-9)
