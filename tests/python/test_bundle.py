"""Bundles: files and arrays of SciPy, CuPy and torch; their arrays, formats and predictions."""

import gc
import json
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
import sptile
from conftest import Device, command, make_bundle, random_csr, random_dense
from hypothesis import given
from hypothesis import strategies as st


def test_a_file_tells_about_itself(bundle_path: Path, small: sp.csr_array) -> None:
    with sptile.open(bundle_path) as bundle:
        assert bundle.shape == (60, 45)
        assert bundle.nnz == small.nnz
        assert bundle.dtype == np.float32
        assert bundle.formats[0] == "csr" and "bittcf" in bundle.formats
        assert bundle.symmetric is False
        assert "60x45" in repr(bundle)


@pytest.mark.parametrize("copy", [False, True])
def test_arrays_of_a_file_are_those_of_the_source(bundle_path: Path, small: sp.csr_array, copy: bool) -> None:
    indptr, indices, values = sptile.open(str(bundle_path), copy=copy).csr()  # in the original order of rows
    assert (indptr.dtype, indices.dtype, values.dtype) == (np.int64, np.int32, np.float32)
    assert np.array_equal(indptr, small.indptr) and np.array_equal(indices, small.indices)
    assert np.array_equal(values, small.data.astype(np.float32))


def test_views_of_arrays_are_read_only_and_outlive_the_bundle(bundle_path: Path, small: sp.csr_array) -> None:
    bundle = sptile.open(bundle_path)
    values = bundle.csr().values
    bundle.close()
    del bundle
    gc.collect()
    assert values.sum() == small.data.astype(np.float32).sum()
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 1
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        values.flags.writeable = True


def test_as_scipy(bundle_path: Path, small: sp.csr_array) -> None:
    matrix = sptile.open(bundle_path).tocsr()
    assert matrix.dtype == np.float32 and matrix.has_canonical_format
    assert abs(matrix - small.astype(np.float32)).nnz == 0


def test_a_pattern_has_no_values(tmp_path: Path, small: sp.csr_array) -> None:
    pattern = sp.coo_array(small)
    source = tmp_path / "p.mtx"
    lines = [f"{i + 1} {j + 1}" for i, j in zip(*pattern.coords, strict=True)]
    source.write_text(
        f"%%MatrixMarket matrix coordinate pattern general\n60 45 {small.nnz}\n" + "\n".join(lines) + "\n"
    )
    path = tmp_path / "p.h5"
    import subprocess

    from conftest import command

    if (program := command()) is None:
        pytest.skip("the sptile command is not there: set SPTILE_COMMAND")
    subprocess.run([program, "convert", source, path], check=True, capture_output=True)
    bundle = sptile.open(path)
    assert bundle.dtype is None and bundle.csr().values is None
    assert bundle.tocsr().sum() == small.nnz
    B = random_dense(45, 3)
    plan = bundle.plan(3)
    assert plan.values_dtype is None
    assert np.allclose(plan(B), (small != 0).astype(np.float32) @ B, atol=1e-5)


def test_in_memory_arrays_are_borrowed() -> None:
    matrix = random_csr(20, 30)
    arrays = sptile.Bundle.of(matrix).csr()
    assert np.shares_memory(arrays.indices, matrix.indices)
    assert np.shares_memory(arrays.values, matrix.data)
    matrix.indptr = matrix.indptr.astype(np.int64)
    assert np.shares_memory(sptile.Bundle.of(matrix).csr().indptr, matrix.indptr)


def test_copies_do_not_follow_the_source() -> None:
    matrix = random_csr(20, 30)
    B, before = random_dense(30, 4), matrix.toarray()
    bundle = sptile.Bundle.of(matrix, copy=True)
    matrix.data[:], matrix.indices[:], matrix.indptr[:] = np.nan, 10**9, -1
    for refreshable in (False, True):
        assert np.allclose(bundle.plan(4, refreshable=refreshable)(B), before @ B, atol=1e-5)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array, sp.bsr_array])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_kinds_of_scipy(kind: Any, index: Any, small: sp.csr_array) -> None:
    matrix = kind(small)
    if hasattr(matrix, "indices"):
        matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    B = random_dense(45, 4, np.float64)
    assert np.allclose(sptile.spmm(matrix, B), small @ B)


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 8), st.integers(0, 40))
def test_entries_out_of_order_and_twice_are_sorted_and_summed(
    seed: int, rows: int, cols: int, nnz: int
) -> None:
    rng = np.random.default_rng(seed)
    lengths = np.bincount(rng.integers(0, rows, nnz), minlength=rows)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    matrix = sp.csr_array((rng.uniform(-1, 1, nnz), rng.integers(0, cols, nnz), indptr), shape=(rows, cols))
    before = pickle.dumps((matrix.data, matrix.indices, matrix.indptr))
    bundle = sptile.Bundle.of(matrix)
    assert np.allclose(bundle.tocsr().toarray(), matrix.toarray())
    assert pickle.dumps((matrix.data, matrix.indices, matrix.indptr)) == before  # it is the caller's


def broken(**arrays: Any) -> sp.csr_array:
    """A CSR matrix whose arrays are exchanged behind SciPy's back."""
    matrix = random_csr(4, 5, density=0.6, dtype=np.float32, seed=3)
    for name, value in arrays.items():
        setattr(matrix, name, value(getattr(matrix, name)))
    return matrix


def with_element(index: int, value: int) -> Any:
    def change(array: np.ndarray) -> np.ndarray:
        changed = array.copy()
        changed[index] = value
        return changed

    return change


class Sparse:
    """Says that it is a sparse matrix."""

    shape = (2, 2)

    def tocsr(self) -> "Sparse":
        return self


@pytest.mark.parametrize(
    ("matrix", "error", "message"),
    [
        (broken(indptr=lambda a: a[:-1]), sptile.BadInputError, "must have 5 row pointers, got 4"),
        (broken(indptr=with_element(-1, 10**6)), sptile.BadInputError, "end with 1000000"),
        (broken(indptr=with_element(-1, -1)), sptile.BadInputError, "end with -1"),
        (broken(indptr=with_element(0, 1)), sptile.BadInputError, r"row_ptr\[0\]"),
        (broken(indptr=with_element(1, 10**6)), sptile.BadInputError, "row_ptr"),
        (broken(indptr=with_element(2, -5)), sptile.BadInputError, "row_ptr"),
        (broken(indices=with_element(0, -1)), sptile.BadInputError, "col_idx"),
        (broken(indices=with_element(-1, 5)), sptile.BadInputError, "col_idx"),
        (
            broken(indices=lambda a: a.astype(np.int64) + 2**40),
            sptile.BadInputError,
            "column ids of A are from",
        ),
        (broken(indices=lambda a: a.astype(np.int16)), sptile.UsageError, "column ids of A must be .*, got int16"),
        (broken(indices=lambda a: a.astype(np.float32)), sptile.UsageError, "column ids of A must be .*, got float32"),
        (broken(indices=lambda a: a[None]), sptile.BadInputError, "one-dimensional"),
        (broken(indices=list), sptile.UsageError, "A.indices must be .*, got list"),
        (broken(data=lambda a: a[:-1]), sptile.BadInputError, "values"),
        (broken(data=lambda a: a.astype(np.complex64)), sptile.UnsupportedError, "complex64"),
        (Sparse(), sptile.UsageError, "must have indptr"),
        (sp.coo_array(np.ones(4)), sptile.UsageError, "A must be two-dimensional, got 1 dimensions"),
        (
            sp.csr_array((3, 2**40), dtype=np.float32),
            sptile.UnsupportedError,
            "row and column ids are 32-bit",
        ),
        (np.eye(3), sptile.UsageError, "A must be .*, got ndarray"),
        (None, sptile.UsageError, "A must be .*, got NoneType"),
        (3, sptile.UsageError, "A must be .*, got int"),
    ],
)
def test_what_is_no_matrix_is_refused(matrix: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        sptile.Bundle.of(matrix).plan(2)


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("/nowhere/a.h5", sptile.IoError),
        (3, sptile.UsageError),
        (None, sptile.UsageError),
        ("a\0b", sptile.UsageError),
    ],
)
def test_what_is_no_file_is_refused(path: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        sptile.open(path)


def test_a_damaged_file_is_refused(bundle_path: Path, tmp_path: Path) -> None:
    whole = bundle_path.read_bytes()
    for name, content in {"empty": b"", "text": b"%%MatrixMarket", "cut": whole[: len(whole) // 2]}.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(sptile.BadInputError):
            sptile.open(path)


def test_a_closed_bundle_is_refused_but_its_plans_go_on(bundle_path: Path, small: sp.csr_array) -> None:
    with sptile.open(bundle_path) as bundle:
        plan = bundle.plan(2)
    B = random_dense(45, 2)
    assert np.allclose(plan(B), small @ B, atol=1e-5)
    bundle.close()  # again
    for call in (lambda: bundle.plan(2), lambda: bundle.predict(2), bundle.csr, bundle.tocsr):
        with pytest.raises(sptile.UsageError, match="closed"):
            call()


def test_predictions_are_of_the_stored_formats(bundle_path: Path) -> None:
    bundle = sptile.open(bundle_path)
    predictions = bundle.predict(16)
    assert {p.format for p in predictions} == set(bundle.formats)
    assert sum(p.chosen for p in predictions) == 1
    chosen = next(p for p in predictions if p.chosen)
    plan = bundle.plan(16)
    assert (plan.format, plan.kernel, plan.precision) == (chosen.format, chosen.kernel, chosen.precision)
    assert [p.format for p in bundle.predict(16, format="csr,bittcf")] == ["csr", "bittcf"]


def test_symmetry_of_a_file(tmp_path: Path) -> None:
    half = random_csr(12, 12, dtype=np.float64)
    symmetric = make_bundle(sp.csr_array(half + half.T), tmp_path / "s.h5", "--transpose", "--format", "csr")
    assert sptile.open(symmetric).symmetric is True


def test_a_matrix_stays_on_its_device(device: Device) -> None:
    matrix = random_csr(30, 20)
    bundle = sptile.Bundle.of(device.sparse(matrix))
    assert bundle.device == ("cpu" if device.name == "cpu" else "cuda:0")
    arrays = bundle.csr()
    assert np.array_equal(device.get(device.arrays.asarray(arrays.indices)), matrix.indices)
    assert np.array_equal(device.get(device.arrays.asarray(arrays.values)), matrix.data)
    plan = bundle.plan(4, precision="fp32")
    assert plan.device == bundle.device
    B = random_dense(20, 4)
    assert np.allclose(device.get(plan(device.put(B))), matrix @ B, atol=1e-5)
    if device.name == "cuda":
        with pytest.raises(sptile.UsageError):
            bundle.plan(4, device="cpu")
        with pytest.raises(sptile.UsageError, match="host memory"):
            bundle.tocsr()


def test_torch_csr_tensors() -> None:
    torch = pytest.importorskip("torch")
    matrix = random_csr(30, 20)
    for index in (torch.int32, torch.int64):
        tensor = torch.sparse_csr_tensor(
            torch.tensor(matrix.indptr, dtype=index),
            torch.tensor(matrix.indices, dtype=index),
            torch.tensor(matrix.data),
            size=matrix.shape,
        )
        B = torch.tensor(random_dense(20, 4))
        C = sptile.spmm(tensor, B)
        assert isinstance(C, torch.Tensor)
        assert torch.allclose(C, torch.tensor(matrix @ B.numpy()), atol=1e-5)
    narrow = torch.sparse_csr_tensor(
        tensor.crow_indices(), tensor.col_indices(), tensor.values().bfloat16(), size=matrix.shape
    )
    C = sptile.plan(narrow, 4, result="float32")(B.bfloat16())
    assert C.dtype == torch.float32
    assert torch.allclose(C, narrow.values().float().new_tensor(matrix.toarray()) @ B, atol=0.05)
    with pytest.raises(sptile.UsageError, match="sparse_csr"):
        sptile.Bundle.of(B)


def test_the_matrices_of_a_part_multiply_together_as_the_whole(tmp_path: Path) -> None:
    program = command()
    if program is None:
        pytest.skip("the sptile command is not there: set SPTILE_COMMAND")
    whole = random_csr(50, 50, seed=3)
    source, parts = tmp_path / "a.mtx", tmp_path / "parts"
    scipy.io.mmwrite(source, whole)
    divide = [program, "partition", source, "--parts", "3", "-o", parts, "-q"]
    subprocess.run(divide, check=True, capture_output=True)
    described = json.loads((parts / "partition.json").read_text())["parts"]
    entries = 0
    for part in described:
        local = sptile.open(parts / part["file"])
        halo = sptile.open(parts / part["file"], matrix="halo")
        assert local.shape == (part["rows"], part["rows"]) and halo.shape == (part["rows"], part["received"])
        entries += local.nnz + halo.nnz
        x, received = random_dense(part["rows"], 4), random_dense(part["received"], 4)
        expected = local.tocsr() @ x + halo.tocsr() @ received
        out = local.plan(4)(x)
        halo.plan(4)(received, out=out, beta=1)
        assert np.allclose(out, expected, atol=1e-5)
        gradient = halo.plan(4, transpose=True)(x)
        assert np.allclose(gradient, halo.tocsr().T @ x, atol=1e-5)
    assert entries == whole.nnz
    with pytest.raises(sptile.BadInputError, match="ghost: /shape is missing"):
        sptile.open(parts / described[0]["file"], matrix="ghost")
