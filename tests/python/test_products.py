"""Products in one call, and linear operators for SciPy's solvers."""

from pathlib import Path

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


def test_wrong_operands() -> None:
    A = random_csr(4, 5)
    for B, message in (
        (np.ones((5, 2), int), "B is int64"),
        (np.ones((1, 5, 2)), "B has 3 dimensions"),
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
    with pytest.raises(sptile.UsageError, match="NumPy arrays"):
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
