"""Files of other programs, against what SciPy and h5py read and write."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import sptile

MATRIX = sp.random_array((9, 7), density=0.3, rng=np.random.default_rng(1)).tocsr()


def read(path: Path, **options: Any) -> sp.csr_array:
    """Reads without notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return sptile.read(path, **options)


def same(a: Any, b: Any) -> bool:
    return a.shape == b.shape and np.array_equal(a.toarray(), b.toarray())


def with_repeats(dtype: Any) -> sp.csr_array:
    """Three entries at (0, 1), one at (1, 2), in SciPy's own order."""
    return sp.csr_array((np.ones(4, dtype), np.array([1, 1, 1, 2]), np.array([0, 3, 4, 4])), shape=(3, 3))


@pytest.mark.parametrize("name", ["a.rua", "a.rb", "a.hb", "A.RUA"])
def test_harwell_boeing_of_scipy(tmp_path: Path, name: str) -> None:
    scipy.io.hb_write(tmp_path / name, MATRIX.tocsc())
    assert same(read(tmp_path / name), scipy.io.hb_read(tmp_path / name, spmatrix=False))


@pytest.mark.parametrize("compressed", [False, True])
def test_mat_of_scipy(tmp_path: Path, compressed: bool) -> None:
    path = tmp_path / "a.mat"
    contents = [
        {"A": MATRIX},
        {"x": np.eye(3), "M": MATRIX, "text": "abc", "cell": np.array([1, "a"], object)},
        {"Problem": {"name": "group/name", "A": MATRIX, "Zeros": sp.csc_array((9, 7)), "b": np.ones(9)}},
        {"M": MATRIX.tocsc() != 0},
    ]
    for content in contents:
        scipy.io.savemat(path, content, do_compression=compressed)
        assert same(read(path), (MATRIX != 0).astype(float) if len(content) == 1 and "M" in content else MATRIX)
    scipy.io.savemat(path, {"B": MATRIX, "C": MATRIX}, do_compression=compressed)
    with pytest.raises(sptile.BadInputError, match="'B', 'C'"):
        read(path)
    scipy.io.savemat(path, {"A": MATRIX * (1 + 2j)}, do_compression=compressed)
    with pytest.raises(sptile.UnsupportedError, match="complex"):
        read(path)
    assert same(read(path, real_part=True), MATRIX)


def test_mat_of_other_versions_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.mat"
    scipy.io.savemat(path, {"A": MATRIX}, format="4")
    with pytest.raises(sptile.UnsupportedError, match="level 5"):
        read(path)
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(512) + b"\x89HDF\r\n\x1a\n")
    with pytest.raises(sptile.UnsupportedError, match="HDF5"):
        read(path)


def test_damaged_mat_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.mat"
    scipy.io.savemat(path, {"Problem": {"A": MATRIX, "B": 2 * MATRIX}})
    whole, rng = path.read_bytes(), np.random.default_rng(2)
    for _ in range(200):
        damaged = bytearray(whole)
        damaged[rng.integers(128, len(whole))] = rng.integers(256)
        path.write_bytes(damaged[: rng.integers(len(whole) // 2, len(whole) + 1)])
        try:
            read(path)
        except sptile.Error:
            pass


def test_graphs_in_numpy_archives(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    edges = np.array([[0, 1, 2, 0], [1, 2, 3, 1]])
    right = sp.coo_array((np.ones(4), (edges[0], edges[1])), shape=(5, 5))
    for arrays in (
        {"src_li": edges[0], "dst_li": edges[1]},
        {"src": edges[0].astype(np.int32), "dst": edges[1].astype(np.uint8)},
        {"edge_index": edges},
        {"edge_index": edges.T},
        {"edge_index": np.asfortranarray(edges), "x": np.ones((5, 2))},
    ):
        np.savez(path, num_nodes=5, **arrays)
        assert same(read(path), right)
    np.savez(path, src_li=edges[0], dst_li=edges[1], edge_weight=np.arange(4.0))
    assert same(read(path), sp.coo_array((np.arange(4.0), (edges[0], edges[1])), shape=(4, 4)))
    np.savez(path, src_li=edges[0], dst_li=edges[1], num_nodes=3)
    with pytest.raises(sptile.BadInputError, match="expected 0 to 2"):
        read(path)


@pytest.mark.parametrize("prefix", ["", "adj_", "adj_matrix."])
def test_csr_in_numpy_archives_without_a_format(tmp_path: Path, prefix: str) -> None:
    names = {"data": MATRIX.data, "indices": MATRIX.indices, "indptr": MATRIX.indptr, "shape": MATRIX.shape}
    np.savez(tmp_path / "a.npz", **{prefix + name: array for name, array in names.items()})
    assert same(read(tmp_path / "a.npz"), MATRIX)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float32])
def test_repeated_entries_of_files_are_summed(tmp_path: Path, dtype: Any) -> None:
    path = tmp_path / "a.npz"
    sp.save_npz(path, with_repeats(dtype))
    right = np.array([[0, 3, 0], [0, 0, 1], [0, 0, 0]])
    assert np.array_equal(read(path).toarray(), right)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert np.array_equal(sptile.convert(path, formats="csr").tocsr().toarray(), right)
    assert np.array_equal(sptile.convert(with_repeats(dtype), formats="csr").tocsr().toarray(), right)


@pytest.mark.parametrize(
    ("text", "dtype", "message"),
    [
        ("integer general\n1 1 1\n1 1 16777217\n", "float32", "integers that f32 cannot represent exactly"),
        ("integer general\n1 1 1\n1 1 9007199254740993\n", None, "integers that .* cannot represent exactly"),
        ("integer general\n1 1 2\n1 1 16777216\n1 1 1\n", "float32", "integers that .* cannot represent exactly"),
        ("real general\n1 1 1\n1 1 1e-300\n", "float32", "nonzeros that underflow"),
        ("real general\n1 1 1\n1 1 1e300\n", "float32", "values that overflow f32"),
        ("real general\n1 1 2\n1 1 3e38\n1 1 3e38\n", "float32", "values that overflow f32"),
        ("real general\n1 2 2\n1 1 0.1\n1 2 0\n", "float32", None),
    ],
)
def test_read_tells_what_the_type_cannot_hold(tmp_path: Path, text: str, dtype: Any, message: str | None) -> None:
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix coordinate " + text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sptile.read(path, dtype=dtype)
    told = [str(w.message) for w in caught if w.category is RuntimeWarning]
    assert len(told) == (message is not None)
    if message is None:
        read(path, dtype=dtype, strict=True)
        return
    with pytest.warns(RuntimeWarning, match=message):
        read(path, dtype=dtype)
    with pytest.raises(sptile.BadInputError, match="strict"):
        read(path, dtype=dtype, strict=True)


# ---- HDF5 ----


def write_group(group: Any, matrix: Any, **storage: Any) -> None:
    for name in ("data", "indices", "indptr"):
        group.create_dataset(name, data=getattr(matrix, name), **storage)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.uint8, bool])
@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_anndata(tmp_path: Path, layout: str, dtype: Any) -> None:
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "a.h5ad"
    matrix = (10 * MATRIX).ceil().astype(dtype).asformat(layout)
    with h5py.File(path, "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = f"{layout}_matrix", matrix.shape
        write_group(group, matrix, compression="gzip" if layout == "csc" else None)
    assert same(read(path), matrix.astype(float))


def test_anndata_that_cannot_be_read(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "a.h5ad"
    with h5py.File(path, "w") as file:
        file["X"] = np.eye(3)
        file["X"].attrs["encoding-type"] = "array"
    with pytest.raises(sptile.UnsupportedError, match="csr_matrix"):
        read(path)
    with h5py.File(path, "w") as file:
        file.attrs["encoding-type"] = "anndata"
    with pytest.raises(sptile.UnsupportedError, match="without X"):
        read(path)
    with h5py.File(path, "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", (9, 2)
        write_group(group, MATRIX)
    with pytest.raises(sptile.BadInputError, match="X/indices"):
        read(path)


@pytest.mark.parametrize("group", ["matrix", "GRCh38"])
def test_10x(tmp_path: Path, group: str) -> None:
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        write_group(file.create_group(group), MATRIX.tocsc())
        file[group]["shape"], file[group]["barcodes"] = MATRIX.shape, np.arange(7)
    assert same(read(path), MATRIX)


def test_texts_of_files_are_printable(tmp_path: Path) -> None:
    evil = "\x1b]0;t\x07\x9b\u202e"
    path = tmp_path / f"{evil}.edges"
    path.write_text(f"source,target,{evil}\n0,1,2\n")
    with pytest.warns(UserWarning) as notes:
        sptile.read(path)
    for name in (f"{evil}", "\udcff"):
        with pytest.raises(sptile.IoError) as raised:
            sptile.read(tmp_path / name)
        assert str(raised.value).isprintable()
    assert len(notes) > 0
    for note in notes:
        assert str(note.message).isprintable()
    assert str(sptile.Error("\x1b\udcff\u202e\n\u00e9")) == "\\x1b\\udcff\\u202e\n\u00e9"
