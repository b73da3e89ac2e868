"""Products in one call, and linear operators for SciPy's solvers."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
import sptile
from conftest import Device, make_bundle, random_csr, random_dense


def test_spmm_follows_its_operands(device: Device, small: sp.csr_array) -> None:
    for dtype in (np.float32, np.float64):
        A, B = small.astype(dtype), random_dense(45, 7, dtype)
        C = sptile.spmm(device.sparse(A), device.put(B), precision="fp32" if dtype == np.float32 else None)
        assert type(C) is type(device.put(B)) and C.dtype == dtype
        assert np.allclose(device.get(C), A @ B, atol=1e-4)
    assert sptile.spmm(small, random_dense(45, 1, np.float64)[:, 0]).shape == (60,)
    assert sptile.spmm(small, np.zeros((45, 0))).shape == (60, 0)


def test_sddmm_is_in_the_order_of_the_matrix(device: Device, small: sp.csr_array) -> None:
    X, Y = random_dense(60, 3, np.float64), random_dense(45, 3, np.float64)
    out = sptile.sddmm(device.sparse(small), device.put(X), device.put(Y), scaled=True)
    assert np.allclose(device.get(out), small.multiply(X @ Y.T).tocsr().data)


# ---- Operands without columns ----


def without_columns(rows: int) -> np.ndarray:
    return np.zeros((rows, 0))


@pytest.mark.parametrize("repeated", [False, True])
def test_operands_without_columns_give_sums_of_nothing(repeated: bool) -> None:
    A = random_csr(9, 7, 0.4, np.float64)
    if repeated:
        A = sp.csr_array((np.repeat(A.data, 2), np.repeat(A.indices, 2), 2 * A.indptr), A.shape)
    (rows, cols), nnz = A.shape, len(A.data)
    X, Y = without_columns(rows), without_columns(cols)
    assert np.array_equal(sptile.sddmm(A, X, Y), np.zeros(nnz))
    dots, out = sptile.plan(A, 4, op="sddmm"), np.full(nnz, 7.0)
    assert np.array_equal(dots.sddmm(X, Y, scaled=True), np.zeros(nnz))
    assert dots.sddmm(X, Y, out, beta=0.5) is out and (out == 3.5).all()
    dots.sddmm(X, Y, out)
    assert not out.any()
    assert sptile.spmm(A, Y).shape == (rows, 0)

    V = random_dense(cols, 2, np.float64)
    row, weights = np.repeat(np.arange(rows), np.diff(A.indptr)), np.diff(A.indptr)
    mean = np.zeros((rows, 2))
    np.add.at(mean, row, V[A.indices] / weights[row][:, None])  # all scores are the same
    statistics = np.empty((rows, 2))
    _, mixed = sptile.plan(A, 4, op="attention", m=2).run(X, Y, V, None, statistics)
    assert np.allclose(mixed, mean)
    gradient = sptile.plan(A, 4, op="attention_gradient", m=2)
    delta, dX = gradient.run(X, Y, V, None, statistics, mixed, np.ones((rows, 2)))
    assert dX.shape == (rows, 0) and np.allclose(delta[:, 0], mixed.sum(1))

    bias = np.array([1.0, -1, 2])
    update = sptile.plan(A, 4, op="spmm_update", m=3, activation="relu")
    Z, C = update.run(Y, without_columns(3).T, bias, X)
    assert Z is X and np.array_equal(C, np.tile([1.0, 0, 2], (rows, 1)))
    back = sptile.plan(A, 4, op="update_gradient", m=3)
    dbias, dW = back.run(X, np.ones((rows, 3)), None, None, np.empty(3))
    assert dW.shape == (0, 3) and (dbias == rows).all()


def test_more_columns_than_none_are_planned() -> None:
    A = random_csr(4, 5, dtype=np.float64)
    with pytest.raises(sptile.UsageError, match="n = 0; the dense operands need at least one column"):
        sptile.plan(A, 0)
    with pytest.raises(sptile.UsageError, match=r"V must have shape .*, got \(5, 0\)"):
        sptile.plan(A, 2, op="attention").run(np.ones((4, 2)), np.ones((5, 2)), without_columns(5))


def test_wrong_operands() -> None:
    A = random_csr(4, 5)
    for B, message in (
        (np.ones((5, 2), int), "B must be float16, .*, got int64"),
        (np.ones((1, 5, 2)), "B must have one or two dimensions, got 3"),
        ([1], "list"),
    ):
        with pytest.raises(sptile.UsageError, match=message):
            sptile.spmm(A, B)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_operator_is_the_matrix(small: sp.csr_array, dtype: type) -> None:
    A = small.astype(dtype)
    operator = sptile.aslinearoperator(A)
    assert operator.shape == A.shape and operator.dtype == dtype
    B, X = random_dense(45, 6, dtype), random_dense(60, 6, dtype)
    for got, expected in (
        (operator @ B, A @ B),
        (operator @ B[:, 0], A @ B[:, 0]),
        (operator.matmat(np.asfortranarray(B)), A @ B),
        (operator.rmatmat(X), A.T @ X),
        (operator.rmatvec(X[:, 0]), A.T @ X[:, 0]),
        (operator.T @ X, A.T @ X),
        (sptile.aslinearoperator(A, transpose=True) @ X, A.T @ X),
        (sptile.aslinearoperator(A, transpose=True).T @ B, A @ B),
    ):
        assert got.shape == expected.shape and got.dtype == dtype
        assert np.allclose(got, expected, atol=1e-5)


def test_an_operator_of_a_bundle_without_its_transpose(tmp_path: Path, small: sp.csr_array) -> None:
    path = make_bundle(
        small, tmp_path / "a.h5", "--format", "bittcf", "--reorder", "degree", "--dtype", "f64"
    )
    operator = sptile.aslinearoperator(sptile.open(path), format="bittcf")
    B, X = random_dense(45, 3, np.float64), random_dense(60, 3, np.float64)
    assert np.allclose(operator @ B, small @ B)
    assert operator.plans[3].format == "bittcf"
    assert np.allclose(sptile.aslinearoperator(sptile.open(path)).rmatmat(X), small.T @ X)


def test_plans_of_an_operator_are_kept_by_width(small: sp.csr_array) -> None:
    operator = sptile.aslinearoperator(small)
    for width in (8, 5, 8, 3):  # as lobpcg does: fewer and fewer
        operator @ random_dense(45, width, np.float64)
    assert list(operator.plans) == [8]  # one serves them all on the CPU
    operator @ random_dense(45, 9, np.float64)
    assert list(operator.plans) == [8, 9]


def test_an_operator_is_of_the_cpu(small: sp.csr_array) -> None:
    with pytest.raises(sptile.UsageError, match="aslinearoperator requires device 'cpu'"):
        sptile.aslinearoperator(small, device="cuda")


def membrane(side: int) -> sp.csr_array:
    """Stiffness of a square membrane in linear elements: symmetric, positive definite."""
    line = sp.diags_array(
        [np.full(side - 1, -1.0), np.full(side, 2.0), np.full(side - 1, -1.0)], offsets=[-1, 0, 1]
    )
    eye = sp.eye_array(side)
    return sp.csr_array(sp.kron(line, eye) + sp.kron(eye, line))


def test_lobpcg_finds_the_same_eigenvalues() -> None:
    A = membrane(30)
    start = random_dense(900, 6, np.float64)
    diagonal = sla.LinearOperator(A.shape, matvec=lambda x: x / 4, matmat=lambda x: x / 4)
    found = [
        np.sort(sla.lobpcg(operator, start.copy(), M=diagonal, largest=False, tol=1e-7, maxiter=300)[0])
        for operator in (A, sptile.aslinearoperator(A))
    ]
    assert np.allclose(found[0], found[1], rtol=1e-8)
    steps = np.arange(1, 31) * np.pi / 62
    exact = np.sort(np.add.outer(4 * np.sin(steps) ** 2, 4 * np.sin(steps) ** 2).ravel())[:6]
    assert np.allclose(found[1], exact, rtol=1e-6)


def test_other_solvers_take_it() -> None:
    A = membrane(20)
    operator = sptile.aslinearoperator(A)
    x, failed = sla.cg(operator, np.ones(400), rtol=1e-10)
    assert failed == 0 and np.allclose(A @ x, 1)
    assert np.allclose(sla.svds(operator, 2)[1], sla.svds(A, 2)[1])


# ---- Types of operands ----

OPERANDS = "?bBhHiIlLefdFD"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("code", OPERANDS)
@pytest.mark.parametrize("shape", [(), (1,), (3,), (0,)])
def test_an_operator_has_the_types_of_scipy(
    small: sp.csr_array, dtype: type, code: str, shape: tuple[int, ...]
) -> None:
    A = small.astype(dtype)
    operator, right = sptile.aslinearoperator(A), sla.aslinearoperator(A)
    x, y = (numbers((rows, *shape), code) for rows in (45, 60))
    exact = np.result_type(dtype, np.dtype(code)) in (np.float64, np.complex128)
    close = {"rtol": 1e-12, "atol": 1e-12} if exact else {"rtol": 1e-4, "atol": 1e-4}
    for got, expected in (
        (operator @ x, right @ x),
        (operator.T @ y, right.T @ y),
        (operator.H @ y, right.H @ y),
        (operator.adjoint().adjoint() @ x, right @ x),
    ):
        assert got.dtype == expected.dtype and got.shape == expected.shape
        assert np.allclose(got, expected, **close)


def numbers(shape: tuple[int, ...], code: str) -> np.ndarray:
    """Numbers of a type; float64 ones are none of float32."""
    rng = np.random.default_rng(2)
    real = rng.uniform(0, 9, shape)
    return (real + 1j * rng.uniform(-1, 1, shape) if code in "FD" else real).astype(code)


@pytest.mark.parametrize("code", ["g", "G", "O", "U1", "M8[s]"])
def test_operands_that_no_product_takes_are_refused(small: sp.csr_array, code: str) -> None:
    operator = sptile.aslinearoperator(small)
    with pytest.raises(sptile.UsageError, match="the operand must"):
        operator @ np.zeros(45, code)
    with pytest.raises(sptile.UsageError, match="the operand must"):
        operator.rmatmat(np.zeros((60, 2), code))


def test_infinite_parts_of_a_complex_operand_stay_apart() -> None:
    x = np.array([complex(np.inf, 1), complex(1, -np.inf)])
    assert np.array_equal(sptile.aslinearoperator(sp.csr_array(np.eye(2))) @ x, x)


def test_big_integers_are_not_rounded_to_float32() -> None:
    operator = sptile.aslinearoperator(sp.csr_array(np.eye(2, dtype=np.float32)))
    assert (operator @ np.array([16777217, -16777217])).tolist() == [16777217, -16777217]


def test_a_float32_pattern_and_bundle_of_a_file_multiply_in_float64(tmp_path: Path, small: sp.csr_array) -> None:
    path = make_bundle(small, tmp_path / "a.h5", "--format", "bittcf", "--reorder", "degree")
    A = small.astype(np.float32)
    operator = sptile.aslinearoperator(sptile.open(path), format="bittcf")
    x, y = random_dense(45, 1, np.float64)[:, 0], random_dense(60, 1, np.float64)[:, 0]
    assert np.allclose(operator @ x, A.astype(float) @ x, rtol=1e-13, atol=1e-13)
    assert np.allclose(operator.rmatvec(y), A.T.astype(float) @ y, rtol=1e-13, atol=1e-13)
    assert np.allclose(operator @ x.astype(np.float32), A @ x, atol=1e-4)


def test_an_operator_of_fresh_values_is_no_mixture(tmp_path: Path, small: sp.csr_array) -> None:
    A = small.astype(np.float32)
    operator = sptile.aslinearoperator(A, refreshable=True)
    ones = np.ones(45, np.float32)
    operator @ ones
    operator.plans[1].refresh(2 * A.data)
    assert np.allclose(operator @ ones, 2 * A @ ones, atol=1e-4)
    assert np.allclose(operator.rmatvec(np.ones(60, np.float32)), 2 * A.T @ np.ones(60), atol=1e-4)
    with pytest.raises(sptile.UsageError, match="refreshable"):
        operator @ np.ones(45)
    file = make_bundle(small, tmp_path / "a.h5", "--format", "csr", "--refreshable")
    with pytest.raises(sptile.UsageError, match="refreshable"):
        sptile.aslinearoperator(sptile.open(file), refreshable=True).rmatvec(np.ones(60, np.float32))


def test_threads_share_an_operator(small: sp.csr_array) -> None:
    A = small.astype(np.float32)
    operator = sptile.aslinearoperator(A, threads=1)
    wrong: list[Any] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        try:
            for _ in range(30):
                shape, code = (45, int(rng.integers(1, 20))), str(rng.choice(["f", "d", "D", "i"]))
                B = numbers(shape, code)
                if not np.allclose(operator @ B, A @ B, rtol=1e-4, atol=1e-3):
                    wrong.append(code)
                X = numbers((60, shape[1]), code)
                if not np.allclose(operator.rmatmat(X), A.T @ X, rtol=1e-4, atol=1e-3):
                    wrong.append(code)
        except Exception as error:  # of another thread, it would not be seen
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def shifted(side: int) -> sp.csr_array:
    """A matrix that is not symmetric, with a dominant diagonal."""
    return sp.csr_array(membrane(side) + sp.diags_array([1.0, 0.5], offsets=[0, 1], shape=(side**2, side**2)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("complex_side", [False, True])
@pytest.mark.parametrize(
    "solver", ["cg", "gmres", "bicg", "bicgstab", "cgs", "qmr", "lgmres", "gcrotmk", "tfqmr"]
)
def test_solvers_converge_as_with_the_operator_of_scipy(solver: str, dtype: type, complex_side: bool) -> None:
    A = (membrane(8) if solver == "cg" else shifted(8)).astype(dtype)
    b = numbers((64,), "D" if complex_side else "d")
    x, failed = getattr(sla, solver)(sptile.aslinearoperator(A), b, rtol=1e-11, maxiter=3000)
    assert failed == 0
    assert np.linalg.norm(A.astype(float) @ x - b) <= 1e-9 * np.linalg.norm(b)


def test_eigenvalues_and_exponentials() -> None:
    A = shifted(8)
    start = numbers((64,), "d")
    for operator in (sptile.aslinearoperator(A), sptile.aslinearoperator(A.astype(np.float32))):
        close = {"rtol": 1e-8 if operator.dtype == np.float64 else 1e-3}
        start = start.astype(operator.dtype)
        found = [np.sort_complex(sla.eigs(one, k=4, v0=start)[0]) for one in (operator, A)]
        assert np.allclose(*found, **close)
        assert np.allclose(sla.svds(operator, 3, v0=start)[1], sla.svds(A, 3, v0=start)[1], **close)
        x = numbers((64,), "D")
        grown = sla.expm_multiply(operator, x, traceA=A.trace())
        assert np.allclose(grown, sla.expm_multiply(A, x), **close)
        assert np.allclose(A @ sla.lsmr(operator, x, atol=1e-12, btol=1e-12)[0], x, rtol=1e-3, atol=1e-3)
