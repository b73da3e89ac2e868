"""Files of other programs: what SciPy writes is read as it is, what the command writes SciPy reads."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import command, random_csr

import sptile


def same(a: sp.csr_array, b: sp.csr_array) -> bool:
    return a.shape == b.shape and np.array_equal(a.toarray(), b.toarray())


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i4", "i8", "u2", ">f4", "?"])
@pytest.mark.parametrize("compressed", [True, False])
def test_npz_of_scipy(tmp_path: Path, kind: type, layout: str, dtype: str, compressed: bool) -> None:
    rng = np.random.default_rng(7)
    dense = rng.integers(0, 3, (12, 20)) * (rng.random((12, 20)) < 0.3)
    matrix = kind(dense.astype("f8"))
    matrix = matrix.tobsr((3, 4)) if layout == "bsr" else matrix.asformat(layout)
    matrix.data = matrix.data.astype(dtype)
    sp.save_npz(tmp_path / "a.npz", matrix, compressed=compressed)
    expected = sp.csr_array(dense.astype("?" if dtype == "?" else "f8"))
    assert same(sptile.read(tmp_path / "a.npz", dtype="float64"), expected)


@pytest.mark.parametrize("wide", [np.int32, np.int64])
def test_npz_with_wide_indices_and_repeated_entries(tmp_path: Path, wide: type) -> None:
    rows, cols = np.array([3, 0, 3, 1], wide), np.array([1, 0, 1, 2], wide)
    matrix = sp.coo_array((np.array([1.0, 2.0, 3.0, 4.0]), (rows, cols)), shape=(4, 3))
    sp.save_npz(tmp_path / "a.npz", matrix)
    assert same(sptile.read(tmp_path / "a.npz"), matrix)


def test_npz_of_other_formats_is_refused_by_name(tmp_path: Path) -> None:
    sp.save_npz(tmp_path / "a.npz", sp.dia_array(np.eye(3)))
    with pytest.raises(sptile.UnsupportedError, match="format.npy.*dia"):
        sptile.read(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", format=b"csr", shape=[1, 1], data=np.array([{}], dtype=object))
    with pytest.raises(sptile.UnsupportedError, match="data.npy.*pickled"):
        sptile.read(tmp_path / "b.npz")


def test_npz_that_export_writes_is_read_by_scipy(tmp_path: Path) -> None:
    program = command()
    if program is None:
        pytest.skip("the command is not there")
    matrix = random_csr(50, 40, seed=3)
    sptile.convert(matrix, tmp_path / "a.h5", dtype="float64")
    subprocess.run([program, "export", "-q", tmp_path / "a.h5", tmp_path / "a.npz"], check=True)
    back = sp.load_npz(tmp_path / "a.npz")
    assert back.format == "csr" and same(back, matrix)
