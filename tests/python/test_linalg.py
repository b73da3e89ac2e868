"""Singular values, vectors and principal components against dense NumPy and SciPy: to the stated accuracy, whatever the
spectrum, rank and shape; the same bits for one seed."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import has_torch, random_csr, run_python
from sptile import linalg
from sptile.linalg._golub_kahan import Sizes, largest_triplets

import sptile

RTOL = {np.float32: 1e-5, np.float64: 1e-10}
METHODS = ("lanczos", "randomized")
Dense = np.ndarray[Any, Any]


def with_values(rows: int, cols: int, values: Any, seed: int = 0) -> Dense:
    """A dense matrix with these singular values."""
    rng = np.random.default_rng(seed)
    left, right = (np.linalg.qr(rng.standard_normal((n, len(values))))[0] for n in (rows, cols))
    return left * values @ right.T


def sparse_rows(rows: int, cols: int, every: int) -> Dense:
    """A dense matrix whose other rows are zero."""
    dense = np.zeros((rows, cols))
    dense[::every] = np.random.default_rng(1).standard_normal((len(dense[::every]), cols))
    return dense


MATRICES: dict[str, tuple[Dense, int]] = {
    "tall": (random_csr(300, 80, dtype=np.float64).toarray(), 12),
    "wide": (random_csr(80, 300, dtype=np.float64).toarray(), 12),
    "square, all values": (random_csr(40, 40, 0.3, np.float64).toarray(), 40),
    "clusters": (with_values(220, 150, np.repeat([5.0, 4.999, 1.0, 0.5], [7, 7, 20, 40])), 20),
    "one value often": (np.eye(150), 40),
    "two values often": (np.diag(np.repeat([2.0, 1.0], [35, 165])), 50),
    "three values often": (np.diag(np.repeat([3.0, 2.0, 0.1], [25, 25, 350])), 45),
    "rank 3": (with_values(200, 120, np.array([3.0, 2.0, 1.0])), 10),
    "rank 3 of many columns": (with_values(60, 400, np.array([3.0, 2.0, 1.0])), 10),
    "decay": (with_values(300, 200, 0.5 ** np.arange(60.0)), 15),
    "constant": (np.ones((90, 30)), 4),
    "zero": (np.zeros((50, 20)), 3),
    "zero rows": (sparse_rows(120, 60, 3), 8),
    "one row": (np.arange(1.0, 9)[None, :], 1),
    "one column": (np.arange(1.0, 9)[:, None], 1),
    "small numbers": (1e-12 * random_csr(90, 70, dtype=np.float64).toarray(), 6),
    "large numbers": (1e12 * random_csr(90, 70, dtype=np.float64).toarray(), 6),
}
cases = pytest.mark.parametrize("name", MATRICES)
methods = pytest.mark.parametrize("method", METHODS)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def check_triplets(dense: Dense, U: Dense, s: Dense, Vt: Dense, dtype: Any, roundings: int = 100) -> None:
    """The stated accuracy, orthonormal vectors, and the largest values."""
    k = len(s)
    dense, U, V, s = dense.astype(np.float64), U.astype(np.float64), Vt.T.astype(np.float64), s.astype(np.float64)
    expected = np.linalg.svd(dense, compute_uv=False)[:k]
    rounding, room = roundings * float(np.finfo(dtype).eps), 2 * RTOL[dtype]
    scale = max(float(expected[0]), np.finfo(np.float64).tiny)
    assert np.all(np.diff(s) <= rounding * scale)
    assert np.abs(s - expected).max() <= room * scale
    assert np.linalg.norm(dense @ V - U * s, axis=0).max() <= rounding * scale
    assert np.linalg.norm(dense.T @ U - V * s, axis=0).max() <= room * scale
    for vectors in (U, V):
        assert np.abs(vectors.T @ vectors - np.eye(k)).max() <= rounding


@cases
@methods
@dtypes
def test_triplets_have_the_stated_accuracy(name: str, method: str, dtype: Any) -> None:
    dense, k = MATRICES[name]
    A = sp.csr_array(dense.astype(dtype))
    found = linalg.svds(A, k, method=method)
    assert isinstance(found, linalg.SVD) and all(part.dtype == dtype for part in found)
    assert (found.U.shape, found.s.shape, found.Vt.shape) == ((dense.shape[0], k), (k,), (k, dense.shape[1]))
    check_triplets(A.toarray(), *found, dtype)
    peaks = np.abs(found.Vt).argmax(1)
    assert (found.Vt[np.arange(k), peaks] > 0).all()


def test_values_are_those_of_scipy() -> None:
    A = random_csr(400, 250, dtype=np.float64)
    U, s, Vt = linalg.svds(A, 8)
    u, sigma, vt = sla.svds(A, 8, rng=np.random.default_rng(0))
    assert np.allclose(s, sigma[::-1], rtol=1e-12)
    assert np.allclose(np.abs(Vt @ vt[::-1].T), np.eye(8), atol=1e-6)
    assert np.allclose(np.abs(U.T @ u[:, ::-1]), np.eye(8), atol=1e-6)


def pca_of(dense: Dense, k: int) -> dict[str, Dense]:
    """The definitions of sklearn.decomposition.PCA."""
    centred = dense - dense.mean(0)
    U, s, Vt = np.linalg.svd(centred, full_matrices=False)
    variances = s**2 / (len(dense) - 1)
    return {
        "scores": (U * s)[:, :k],
        "components": Vt[:k],
        "singular_values": s[:k],
        "mean": dense.mean(0),
        "explained_variance": variances[:k],
        "explained_variance_ratio": variances[:k] / max(variances.sum(), np.finfo(np.float64).tiny),
    }


@cases
@methods
@dtypes
def test_components_are_those_of_the_centred_matrix(name: str, method: str, dtype: Any) -> None:
    dense, k = MATRICES[name]
    if len(dense) < 2:
        return
    dense = dense.astype(dtype).astype(np.float64)
    found, expected = linalg.pca(sp.csr_array(dense.astype(dtype)), k, method=method), pca_of(dense, k)
    room = 3 * RTOL[dtype]
    scale = max(float(expected["singular_values"][0]), float(np.abs(dense).sum()), np.finfo(np.float64).tiny)
    for field in ("singular_values", "mean"):
        assert np.abs(getattr(found, field) - expected[field]).max() <= room * scale, field
    assert np.allclose(found.explained_variance, expected["explained_variance"], rtol=10 * room, atol=room * scale**2)
    if name != "constant":
        assert np.abs(found.explained_variance_ratio - expected["explained_variance_ratio"]).max() <= 10 * room
    components = found.components.astype(np.float64)
    assert np.abs((dense - dense.mean(0)) @ components.T - found.scores).max() <= room * scale
    assert np.abs(components @ components.T - np.eye(k)).max() <= 100 * np.finfo(dtype).eps


def test_separated_components_are_those_of_a_dense_decomposition() -> None:
    """Up to signs, which are those of sklearn: the largest entry of each component is positive."""
    dense = with_values(150, 60, 0.7 ** np.arange(30.0)) + 0.3
    found, expected = linalg.pca(sp.csr_array(dense), 6), pca_of(dense, 6)
    peaks = expected["components"][np.arange(6), np.abs(expected["components"]).argmax(1)]
    for field, signs in (("components", np.sign(peaks)[:, None]), ("scores", np.sign(peaks))):
        assert np.allclose(getattr(found, field), expected[field] * signs, atol=1e-8), field
    for field in ("mean", "explained_variance", "explained_variance_ratio", "singular_values"):
        assert np.allclose(getattr(found, field), expected[field], rtol=1e-9), field


def test_a_large_mean_costs_no_accuracy() -> None:
    """Sums of a column in float32 alone would have an error of 1e-3."""
    rng = np.random.default_rng(0)
    dense = (1000 + rng.standard_normal((20_000, 8))).astype(np.float32)
    found = linalg.pca(sp.csr_array(dense), 3)
    assert np.abs(found.mean - dense.astype(np.float64).mean(0)).max() < 2e-4
    assert np.allclose(found.explained_variance, pca_of(dense.astype(np.float64), 3)["explained_variance"], rtol=1e-3)


# ---- Inputs ----


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr", "lil"])
def test_any_layout_is_decomposed(layout: str) -> None:
    A = random_csr(60, 40, dtype=np.float64)
    assert np.array_equal(linalg.svds(A.asformat(layout), 4).s, linalg.svds(A, 4).s)


def test_bundles_and_files_are_decomposed(small: sp.csr_array, bundle_path: Path) -> None:
    for given in (sptile.Bundle.of(small), bundle_path, sptile.convert(small, formats="all", reorder="degree")):
        found = linalg.svds(given, 5)
        assert np.allclose(found.s, np.linalg.svd(small.toarray(), compute_uv=False)[:5], rtol=1e-5)
        check_triplets(sptile.Bundle.of(given).tocsr().toarray(), *found, found.s.dtype.type)


def test_types_are_chosen_and_converted() -> None:
    counts = np.random.default_rng(0).poisson(0.3, (80, 50))
    expected = np.linalg.svd(counts, compute_uv=False)[:4]
    A = sp.csr_array(counts)
    for given, dtype, result in ((A, None, "f4"), (A, "f64", "f8"), (A.astype("f4"), "f64", "f8"), (A.astype("f8"), "f32", "f4")):
        found = linalg.svds(given, 4, dtype=dtype)
        assert found.s.dtype == result and np.allclose(found.s, expected, rtol=1e-5 if result == "f4" else 1e-11)
    half = sp.csr_array(counts.astype(np.float32))
    half.data = half.data.astype(np.float16)
    assert linalg.svds(half, 4).s.dtype == np.float32
    assert np.allclose(linalg.svds(half, 4).s, expected, rtol=1e-5)
    pattern = sp.csr_array((counts > 0).astype(bool))
    assert np.allclose(linalg.svds(pattern, 4).s, np.linalg.svd(pattern.toarray(), compute_uv=False)[:4], rtol=1e-5)


def test_repeated_entries_are_added() -> None:
    A = sp.coo_array((np.array([1.0, 2, 3, 4]), ([0, 0, 1, 2], [1, 1, 0, 2])), shape=(3, 3))
    assert np.allclose(linalg.svds(A, 3).s, [4, 3, 3])
    expected = pca_of(A.toarray(), 2)["explained_variance_ratio"]
    assert np.allclose(linalg.pca(A, 2).explained_variance_ratio, expected)


@pytest.mark.skipif(not has_torch(), reason="torch is not installed")
def test_a_torch_tensor_gives_torch_tensors() -> None:
    import torch

    A = random_csr(70, 50)
    tensor = torch.sparse_csr_tensor(*(torch.from_numpy(x) for x in (A.indptr, A.indices, A.data)), size=A.shape)
    found, own = linalg.svds(tensor, 5), linalg.svds(A, 5)
    assert all(isinstance(part, torch.Tensor) and part.dtype == torch.float32 for part in found)
    assert found.Vt.is_contiguous() and np.allclose(found.s.numpy(), own.s, rtol=1e-5)
    assert all(isinstance(part, torch.Tensor) for part in linalg.pca(tensor, 5))


# ---- Refused ----


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k must be from 1 to 7"),
        ({"k": -1}, "k must be from 1 to 7"),
        ({"k": 8}, "k must be from 1 to 7"),
        ({"k": 2.0}, "k must be an integer"),
        ({"k": 2, "method": "arpack"}, "method must be one of 'lanczos', 'randomized'"),
        ({"k": 2, "rtol": -1e-3}, "rtol must be finite and at least 0"),
        ({"k": 2, "rtol": float("nan")}, "rtol must be finite"),
        ({"k": 2, "rtol": "small"}, "rtol must be a number"),
        ({"k": 2, "maxiter": 0}, "maxiter must be from 1"),
        ({"k": 2, "seed": -1}, "seed must be from 0"),
        ({"k": 2, "seed": "one"}, "seed must be an integer"),
        ({"k": 2, "dtype": "f16"}, "dtype must be float32 or float64"),
        ({"k": 2, "device": "tpu"}, "device must be"),
    ],
)
@pytest.mark.parametrize("function", [linalg.svds, linalg.pca])
def test_invalid_options_are_refused(function: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(sptile.UsageError, match=message):
        function(random_csr(9, 7), **options)


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0)])
def test_empty_matrices_have_no_values(shape: tuple[int, int]) -> None:
    with pytest.raises(sptile.UsageError, match="k must be from 1 to 0"):
        linalg.svds(sp.csr_array(shape), 1)


def test_one_row_has_no_variance() -> None:
    with pytest.raises(sptile.UsageError, match="at least two rows"):
        linalg.pca(sp.csr_array(np.ones((1, 4))), 1)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("function", [linalg.svds, linalg.pca])
@pytest.mark.filterwarnings("ignore:invalid value")
def test_values_that_are_not_finite_are_named(function: Any, bad: float) -> None:
    A = sp.csr_array(np.eye(30))
    A.data[17] = bad
    with pytest.raises(sptile.BadInputError, match=f"1 values that are NaN or infinite, the first, {bad}, in row 17, column 17"):
        function(A, 3)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_products_that_overflow_are_refused() -> None:
    with pytest.raises(sptile.BadInputError, match="scale A or use dtype='f64'"):
        linalg.svds(sp.csr_array(np.full((40, 40), 1e38, np.float32)), 2)


def test_complex_values_are_refused() -> None:
    with pytest.raises(sptile.UnsupportedError, match="complex"):
        linalg.svds(sp.csr_array(np.eye(3) * 1j), 1)


def test_too_few_products_are_reported() -> None:
    A = sp.csr_array(with_values(400, 300, 1 + np.linspace(1, 0, 300)))
    with pytest.warns(RuntimeWarning, match=r"of 10 singular triplets did not converge .* in 3 products"):
        found = linalg.svds(A, 10, maxiter=3)
    with pytest.warns(RuntimeWarning, match="in 2 products"):  # which the number of values requires
        linalg.svds(A, 10, maxiter=1)
    assert found.s.shape == (10,) and (found.s <= 2 + 1e-12).all()


# ---- The iteration ----


@pytest.mark.filterwarnings("ignore:.*did not converge")
@pytest.mark.parametrize("steps", [2, 3, 5, 8])
@pytest.mark.parametrize("shape", [(260, 200), (300, 70), (90, 260)])
def test_residuals_are_those_of_the_result(
    monkeypatch: pytest.MonkeyPatch, steps: int, shape: tuple[int, int]
) -> None:
    """Also after a restart, and with narrow blocks before the space is exhausted."""
    reported: list[Dense] = []

    def remember(*arguments: Any) -> Any:
        found = largest_triplets(*arguments)
        reported.append(found.residuals)
        return found

    monkeypatch.setattr(linalg, "largest_triplets", remember)
    monkeypatch.setattr(linalg, "_sizes", lambda _method, wanted, _dtype, _steps: Sizes(wanted, 12, 30, steps))
    dense = with_values(*shape, 1 + np.linspace(1, 0, min(shape)))
    U, s, Vt = linalg.svds(sp.csr_array(dense), 9)
    right, left = dense.T @ U - Vt.T * s, dense @ Vt.T - U * s
    found = right if shape[0] >= shape[1] else left
    assert np.allclose(np.linalg.norm(found, axis=0), reported[0], rtol=1e-6, atol=1e-12)


def test_restarts_keep_the_accuracy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a flat spectrum, with bases that hold few blocks."""
    monkeypatch.setattr(linalg, "_sizes", lambda _method, wanted, _dtype, _steps: Sizes(wanted, 4, wanted + 8, 3000))
    dense = with_values(260, 200, 1 + np.linspace(1, 0, 200) ** 2)
    check_triplets(dense, *linalg.svds(sp.csr_array(dense), 9), np.float64, 10_000)


def test_panels_of_rows_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    A = random_csr(500, 90, dtype=np.float64)
    expected = linalg.pca(A, 6)
    monkeypatch.setattr("sptile.linalg._products._PANEL_BYTES", 7000)
    monkeypatch.setattr("sptile.linalg._products._LEAST_PER_COLUMN", 0)
    monkeypatch.setattr("sptile.linalg._dense._PANEL_ROWS", {0: 64})
    found = linalg.pca(A, 6)
    for one, other in zip(found, expected, strict=True):
        assert np.allclose(one, other, atol=1e-9)


PROGRAM = """
import hashlib, numpy as np, scipy.sparse as sp, sptile.linalg as linalg
A = sp.random_array((9000, 300), density=0.05, format="csr", dtype=np.float32, rng=np.random.default_rng(0))
for function in (linalg.svds, linalg.pca):
    print(hashlib.sha256(b"".join(part.tobytes() for part in function(A, 12, seed=3))).hexdigest())
"""


def test_a_seed_gives_the_same_bits_for_any_number_of_threads() -> None:
    outputs = {
        run_python(PROGRAM, SPTILE_THREADS=str(own), OPENBLAS_NUM_THREADS=str(blas)).stdout
        for own, blas in ((1, 1), (2, 1), (3, 2), (1, 2))
    }
    assert len(outputs) == 1 and len(outputs.pop().split()) == 2


def test_seeds_are_numbers_or_generators() -> None:
    A = random_csr(200, 90)

    def bits(seed: Any) -> str:
        return hashlib.sha256(linalg.svds(A, 4, seed=seed).Vt.tobytes()).hexdigest()

    assert bits(5) == bits(np.random.default_rng(5)) == bits(5)
    assert bits(5) != bits(6)
