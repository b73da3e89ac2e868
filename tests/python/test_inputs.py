"""Files of other programs: what SciPy writes is read as it is, what the command writes SciPy reads."""

from __future__ import annotations

import csv
import gzip
import os
import subprocess
import threading
import warnings
from pathlib import Path
from typing import Any

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
    with pytest.warns(UserWarning, match="summed 1 duplicate entries"):
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


# ---- Edge lists ----

PATH = [(0, 1), (1, 2), (2, 0)]


def heard(path: Path, **options: Any) -> tuple[sp.csr_array, list[str]]:
    """The matrix of a file, and what is said of it."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        matrix = sptile.read(path, **options)
    assert all(warning.category is UserWarning for warning in said)
    return matrix, [str(warning.message) for warning in said]


def edges(matrix: sp.csr_array) -> dict[tuple[int, int], float]:
    coo = matrix.tocoo()
    return {(int(i), int(j)): float(v) for i, j, v in zip(*coo.coords, coo.data)}


def test_edge_lists_of_networkx(tmp_path: Path) -> None:
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph(PATH)
    weighted = networkx.DiGraph()
    weighted.add_weighted_edges_from([(0, 1, 0.5), (1, 2, np.float64(3)), (2, 0, 2)])
    for edge in weighted.edges:
        weighted.edges[edge]["color"] = "red, {blue}"
    path = tmp_path / "graph.edgelist"
    for delimiter in " ", ",", "\t":
        for data in True, False:
            networkx.write_edgelist(graph, path, delimiter=delimiter, data=data)
            assert edges(heard(path)[0]) == dict.fromkeys(PATH, 1.0)
        networkx.write_edgelist(weighted, path, delimiter=delimiter)
        matrix, notes = heard(path)
        assert edges(matrix) == {(0, 1): 0.5, (1, 2): 3, (2, 0): 2}
        assert any("ignored attributes: 'color'" in note for note in notes)
        networkx.write_weighted_edgelist(weighted, path, delimiter=delimiter)
        assert edges(heard(path)[0]) == {(0, 1): 0.5, (1, 2): 3, (2, 0): 2}


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize("index", [True, False])
def test_edge_lists_as_pandas_writes_them(tmp_path: Path, separator: str, index: bool, quoting: int, encoding: str) -> None:
    table = [["", "time", "target", "weight", "source"], [0, 9, 1, 0.5, 0], [1, 8, 2, 3.0, 1], [2, 7, 0, 2.0, 2]]
    with open(tmp_path / "graph.csv", "w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=separator, quoting=quoting, lineterminator=os.linesep).writerows(  # type: ignore[arg-type, unused-ignore]
            row if index else row[1:] for row in table
        )
    matrix, notes = heard(tmp_path / "graph.csv")
    assert edges(matrix) == {(0, 1): 0.5, (1, 2): 3, (2, 0): 2}
    assert any("ignored columns" in note and "'time'" in note for note in notes)


@pytest.mark.parametrize("options", [{}, {"fmt": "%d"}, {"delimiter": ","}, {"header": "target weight source"}])
def test_edge_lists_of_numpy(tmp_path: Path, options: dict[str, Any]) -> None:
    columns = ["target", "weight", "source"] if "header" in options else ["source", "target", "weight"]
    table = {"source": [0, 1, 2], "target": [1, 2, 0], "weight": [4, 3, 2]}
    np.savetxt(tmp_path / "graph.txt", np.array([table[name] for name in columns]).T, **options)
    assert edges(heard(tmp_path / "graph.txt")[0]) == {(0, 1): 4, (1, 2): 3, (2, 0): 2}


def test_edge_lists_that_export_writes_are_read_in_silence(tmp_path: Path) -> None:
    program = command()
    if program is None:
        pytest.skip("the command is not there")
    matrix = random_csr(30, 40, seed=3)
    sptile.convert(matrix, tmp_path / "a.h5", dtype="float64")
    for name in "a.edges", "a.csv", "a.tsv.gz", "a.edgelist":
        subprocess.run([program, "export", "-q", tmp_path / "a.h5", tmp_path / name], check=True)
        back, notes = heard(tmp_path / name)
        assert same(back, matrix) and not notes


def test_python_says_what_the_command_notes(tmp_path: Path) -> None:
    program = command()
    if program is None:
        pytest.skip("the command is not there")
    path = tmp_path / "graph.csv"
    for text in "1,2\n2,3\n1,2\n", "a,b\n0,1\n", "4 3\n1 2\n2 3\n3 4\n", "1 2 1082040961\n3 4 1082155839\n", "# 2 x 2, base 0\n0 1\n":
        path.write_text(text)
        run = subprocess.run([program, "stats", path], check=True, capture_output=True, text=True)
        notes = heard(path)[1]
        assert notes == run.stderr.splitlines()
        for read in sptile.convert, sptile.reorder:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                read(path)
            assert [str(warning.message) for warning in said] == notes
            assert all(warning.filename == __file__ for warning in said)


def test_options_of_edge_lists(tmp_path: Path) -> None:
    path = tmp_path / "graph.dat"
    path.write_text("5;1;2\n7;2;3\n")
    options: dict[str, Any] = {"base": 0, "separator": "semicolon", "columns": "weight,source,target", "kind": "edges"}
    matrix, notes = heard(path, **options)
    assert matrix.shape == (4, 4) and edges(matrix) == {(1, 2): 5, (2, 3): 7} and not notes
    assert sptile.convert(path, **options).shape == (4, 4)
    assert len(sptile.reorder(path, **options).permutation) == 4
    assert edges(heard(path, base=1, columns=["-", "target", "source"])[0]) == {(1, 0): 1, (2, 1): 1}
    assert edges(heard(path, base="auto", separator=";", columns="auto", kind="auto")[0]) == {(4, 0): 2, (6, 1): 3}


@pytest.mark.parametrize(
    "options",
    [{"base": 2}, {"base": "0"}, {"separator": "x"}, {"separator": 1}, {"kind": "graphs"}, {"kind": 1}, {"columns": "source"}],
)
@pytest.mark.parametrize("read", [sptile.read, sptile.convert, sptile.reorder])
def test_wrong_options_of_edge_lists(tmp_path: Path, read: Any, options: dict[str, Any]) -> None:
    (tmp_path / "graph.el").write_text("0 1\n")
    with pytest.raises(sptile.UsageError):
        read(tmp_path / "graph.el", **options)


def test_ids_that_are_too_large_are_unsupported(tmp_path: Path) -> None:
    (tmp_path / "graph.el").write_text("5000000000 6000000000\n")
    with pytest.raises(sptile.UnsupportedError, match="el:1: vertex 5000000000 exceeds 2147483647"):
        sptile.read(tmp_path / "graph.el")


def test_parallel_edges_count(tmp_path: Path) -> None:
    path = tmp_path / "graph.el"
    path.write_text("0 1\n0 1\n0 1\n1 2\n")
    matrix, notes = heard(path)
    assert edges(matrix) == {(0, 1): 3, (1, 2): 1}
    assert any("summed 2 duplicate entries" in note for note in notes)


def test_edge_lists_come_through_pipes(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for text, nnz in (b"0 1\n1 2\n", 2), (gzip.compress(b"source,target\n0,1\n"), 1):
        writer = threading.Thread(target=pipe.write_bytes, args=(text,))
        writer.start()
        assert heard(pipe)[0].nnz == nnz
        writer.join()
