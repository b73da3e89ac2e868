"""Batches: many matrices as one operand, in host memory and on devices; what cannot be a batch is refused by
the name of the matrix."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sptile
from conftest import Device, make_bundle, random_csr, random_dense

MAKERS = [sptile.block_diag, sptile.vstack]
SCIPYS = {sptile.block_diag: sp.block_diag, sptile.vstack: sp.vstack}

Maker = Callable[..., sptile.Batch]


def members(count: int = 5, cols: int = 9, dtype: Any = np.float64) -> list[sp.csr_array]:
    """Of several heights, some without rows or entries."""
    heights = [3, 0, 7, 1, 5]
    return [random_csr(heights[i % 5], cols, 0.4 * (i != 3), dtype, seed=i) for i in range(count)]


def joined(make: Maker, parts: list[Any]) -> sp.csr_array:
    return sp.csr_array(SCIPYS[make](parts, format="csr"))


def same(batch: sptile.Bundle, expected: sp.csr_array) -> bool:
    found = batch.tocsr()
    return found.shape == expected.shape and np.array_equal(found.toarray(), expected.toarray())


def named(number: int, what: str = "") -> str:
    return re.escape(f"matrix {number} of the batch: ") + what


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_run_multiplies_all(device: Device, make: Maker, dtype: Any) -> None:
    parts = members(dtype=dtype)
    batch = make([device.sparse(part) for part in parts])
    expected = joined(make, parts)
    assert batch.shape == expected.shape and batch.nnz == expected.nnz and batch.dtype == dtype
    assert batch.device.startswith(device.name)
    B = random_dense(expected.shape[1], 6, dtype)
    precise = None if dtype == np.float64 else "fp32"
    plan = batch.plan(6, precision=precise)
    C = device.get(plan(device.put(B)))
    assert np.allclose(C, expected @ B, atol=1e-5)
    for i, (part, found) in enumerate(zip(parts, np.split(C, batch.row_offsets[1:-1]), strict=True)):
        columns = slice(None) if batch.col_offsets is None else slice(*batch.col_offsets[i : i + 2])
        assert np.allclose(found, part @ B[columns], atol=1e-5)


def test_offsets_say_where_matrices_stand() -> None:
    parts = [sp.csr_array((2, 3)), sp.csr_array((0, 4)), sp.csr_array((5, 1))]
    batch = sptile.block_diag(parts)
    assert batch.row_offsets.dtype == np.int64 and batch.row_offsets.tolist() == [0, 2, 2, 7]
    assert batch.col_offsets is not None and batch.col_offsets.tolist() == [0, 3, 7, 8]
    assert batch.shape == (7, 8) and batch.nnz == 0
    stacked = sptile.vstack([sp.csr_array((2, 3)), sp.csr_array((5, 3))])
    assert stacked.row_offsets.tolist() == [0, 2, 7] and stacked.col_offsets is None
    assert "2 matrices" in repr(stacked)


@pytest.mark.parametrize("make", MAKERS)
def test_matrices_of_every_kind(make: Maker, tmp_path: Path) -> None:
    A = random_csr(6, 9, 0.4, np.float64, seed=4)
    wide = A.copy()
    wide.indptr, wide.indices = wide.indptr.astype(np.int64), wide.indices.astype(np.int64)
    shuffled = sp.csr_array(A.tocoo()).copy()
    shuffled.indices[: shuffled.indptr[1]] = shuffled.indices[: shuffled.indptr[1]][::-1].copy()
    shuffled.data[: shuffled.indptr[1]] = shuffled.data[: shuffled.indptr[1]][::-1].copy()
    shuffled.has_sorted_indices = False
    path = make_bundle(A, tmp_path / "a.h5", "--dtype", "f64")
    kinds = [A, wide, shuffled, A.tocoo(), A.tocsc(), sp.csr_matrix(A), sptile.Bundle.of(A), path, str(path)]
    kinds += [sptile.open(path), sptile.vstack([A]), sptile.convert(A, dtype="float64")]
    assert same(make(iter(kinds)), joined(make, [A] * len(kinds)))


def test_entries_of_one_place_are_added_up_within_a_matrix(device: Device) -> None:
    A = sp.csr_array((np.array([1.0, 2, 4, 8]), np.array([1, 0, 1, 1]), np.array([0, 3, 4])), shape=(2, 2))
    batch = sptile.vstack([device.sparse(A), device.sparse(A)])
    assert np.array_equal(device.get(batch.plan(2)(device.put(np.eye(2)))), [[2, 5], [0, 8]] * 2)


@pytest.mark.parametrize("make", MAKERS)
def test_tensors_of_torch(make: Maker) -> None:
    torch = pytest.importorskip("torch")
    parts = members(3)
    tensors = [
        torch.sparse_csr_tensor(
            torch.from_numpy(p.indptr), torch.from_numpy(p.indices), torch.from_numpy(p.data), p.shape
        )
        for p in parts
    ]
    assert same(make(tensors), joined(make, parts))
    halves = make([one.to(torch.bfloat16) for one in tensors])
    B = torch.ones(halves.shape[1], 4, dtype=torch.bfloat16)
    assert torch.allclose(halves.plan(4)(B).double(), torch.from_numpy(joined(make, parts) @ np.ones(B.shape)), atol=0.1)


def test_new_values_are_those_of_all_matrices(device: Device) -> None:
    parts = members()
    batch = sptile.block_diag([device.sparse(part) for part in parts])
    plan = batch.plan(3, refreshable=True)
    values = np.arange(batch.nnz, dtype=np.float64)
    plan.refresh(device.put(values))
    expected = joined(sptile.block_diag, parts)
    expected.data = values
    B = random_dense(batch.shape[1], 3, np.float64)
    assert np.allclose(device.get(plan(device.put(B))), expected @ B)
    with pytest.raises(sptile.UsageError):
        plan.refresh(device.put(values[:-1]))


def test_other_operations(device: Device) -> None:
    parts = members()
    batch = sptile.block_diag([device.sparse(part) for part in parts])
    expected = joined(sptile.block_diag, parts)
    X, Y = random_dense(batch.shape[0], 4, np.float64), random_dense(batch.shape[1], 4, np.float64)
    sampled = sptile.sddmm(batch, device.put(X), device.put(Y))
    assert np.allclose(device.get(sampled), (X @ Y.T)[expected.nonzero()])
    C = batch.plan(4, transpose=True)(device.put(X))
    assert np.allclose(device.get(C), expected.T @ X)


def test_a_batch_keeps_its_matrices_or_copies_them() -> None:
    parts = members()
    expected = joined(sptile.vstack, parts)
    batch = sptile.vstack(part.copy() for part in parts)  # nothing else keeps them
    assert np.allclose(batch.plan(2, refreshable=True)(np.ones((9, 2))), expected @ np.ones((9, 2)))
    copied = sptile.vstack(parts, copy=True)
    for part in parts:
        part.data[:] = np.nan
    assert np.allclose(copied.plan(2, refreshable=True)(np.ones((9, 2))), expected @ np.ones((9, 2)))
    copied.close()
    with pytest.raises(sptile.UsageError, match="closed"):
        copied.plan(2)


@pytest.mark.parametrize("make", MAKERS)
def test_what_is_no_list_of_matrices(make: Maker) -> None:
    A = random_csr(3, 3)
    for wrong in (A, sp.csr_matrix(A), sptile.Bundle.of(A), np.eye(3), "a.h5", b"a.h5", None, 3):
        with pytest.raises(sptile.UsageError, match="matrices must be a list"):
            make(wrong)
    for nothing in ([], (), iter([])):
        with pytest.raises(sptile.UsageError, match="empty batch"):
            make(nothing)
    for wrong in (None, np.eye(3), 3, [A]):
        with pytest.raises(sptile.UsageError, match=named(1)):
            make([A, wrong])
    closed = sptile.Bundle.of(A)
    closed.close()
    with pytest.raises(sptile.UsageError, match=named(1, "the bundle is closed")):
        make([A, closed])
    with pytest.raises(sptile.IoError, match=named(2)):
        make([A, A, "no/such/file.h5"])


@pytest.mark.parametrize("make", MAKERS)
def test_a_matrix_that_does_not_go_with_the_others(make: Maker) -> None:
    A = random_csr(3, 4, 0.9)
    with pytest.raises(sptile.UsageError, match=named(2, "values of type f64, but the first has f32")):
        make([A, A, A.astype(np.float64)])
    with pytest.raises(sptile.UnsupportedError, match=named(1, ".*complex64")):
        make([A, A.astype(np.complex64)])


def test_stacked_matrices_share_their_columns() -> None:
    with pytest.raises(sptile.UsageError, match=named(1, "5 columns, the first has 4")):
        sptile.vstack([random_csr(3, 4), random_csr(3, 5)])


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    "indptr, indices",
    [
        ([0, 1, 2], [0, 4]),
        ([0, 1, 2], [0, -1]),
        ([0, 2, 1], [0, 1]),
        ([1, 1, 2], [0, 1]),
        ([0, 1, 3], [0, 1]),
        ([0, 2**40, 2], [0, 1]),
        ([0, -1, 2], [0, 1]),
    ],
)
def test_damaged_arrays(make: Maker, indptr: list[int], indices: list[int]) -> None:
    good = random_csr(2, 3, 0.9)
    bad = sp.csr_array((2, 3), dtype=np.float32)
    bad.indptr, bad.indices = np.array(indptr, np.int64), np.array(indices, np.int32)
    bad.data = np.ones(2, np.float32)
    with pytest.raises(sptile.BadInputError, match=named(1)):
        make([good, bad, good])


def test_more_rows_or_columns_than_ids_count() -> None:
    wide = sp.csr_array((3, 2**31 - 1), dtype=np.float32)
    with pytest.raises(sptile.UnsupportedError, match=named(1, "2147483647 columns after 2147483647")):
        sptile.block_diag([wide, wide])
    assert sptile.vstack([wide, wide]).shape == (6, 2**31 - 1)


def test_a_batch_of_one_device(device: Device) -> None:
    if device.name == "cpu":
        pytest.skip("needs a CUDA device beside the host")
    A = random_csr(3, 4)
    for parts, number in (([A, device.sparse(A)], 1), ([device.sparse(A), device.sparse(A), A], 2)):
        with pytest.raises(sptile.UsageError, match=named(number, "it is in different memory from the first")):
            sptile.block_diag(parts)


def test_random_batches() -> None:
    from hypothesis import given, strategies

    shapes = strategies.lists(strategies.tuples(*[strategies.integers(0, 6)] * 2), min_size=1, max_size=8)

    @given(shapes, strategies.integers(0, 2**32 - 1), strategies.sampled_from(MAKERS))
    def check(shapes: list[tuple[int, int]], seed: int, make: Maker) -> None:
        cols = shapes[0][1]
        parts = [
            random_csr(r, cols if make is sptile.vstack else k, 0.5, np.float64, seed + i)
            for i, (r, k) in enumerate(shapes)
        ]
        batch, expected = make(parts), joined(make, parts)
        assert same(batch, expected)
        B = random_dense(expected.shape[1], 2, np.float64)
        assert np.allclose(batch.plan(2)(B), expected @ B)

    check()

