"""read, convert, reorder: the same as SciPy and the command, for any matrix; wrong inputs; Ctrl-C; no half-written
files."""

from __future__ import annotations

import gc
import gzip
import inspect
import os
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from conftest import ROOT, command, random_csr, run_python, wait_for_work
from hypothesis import given
from hypothesis import strategies as st

import sptile

PLATE = ROOT / "data" / "examples" / "fem_plate.mtx"


@st.composite
def coo_matrices(draw: st.DrawFn) -> sp.coo_array:
    """Any order, repeated places, empty rows, no entries at all; integers, so that sums are exact."""
    rows, cols = draw(st.integers(1, 40)), draw(st.integers(1, 40))
    count = draw(st.integers(0, 120))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dtype = draw(st.sampled_from([np.float32, np.float64, np.int8, np.int64, np.uint16, np.bool_]))
    values = rng.integers(-9 if np.dtype(dtype).kind in "if" else 0, 9, count).astype(dtype)
    return sp.coo_array((values, (rng.integers(0, rows, count), rng.integers(0, cols, count))), shape=(rows, cols))


def same(a: Any, b: Any) -> bool:
    return a.shape == b.shape and np.array_equal(a.toarray(), b.toarray())


# ---- read ----


def test_read_is_what_scipy_reads() -> None:
    ours, theirs = sptile.read(PLATE), scipy.io.mmread(PLATE)
    assert isinstance(ours, sp.csr_array) and ours.dtype == np.float64
    assert same(ours, theirs)
    assert ours.has_canonical_format and ours.indices.dtype == ours.indptr.dtype == np.int32
    assert np.shares_memory(ours.indices, ours.indices[:])
    assert sptile.read(str(PLATE), dtype="float32").dtype == np.float32


def test_read_compressed_and_patterns(tmp_path: Path) -> None:
    text = b"%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 3\n2 1\n"
    path = tmp_path / "a.mtx.gz"
    path.write_bytes(gzip.compress(text))
    assert same(sptile.read(path), sp.csr_array([[0, 0, 1.0], [1, 0, 0]]))
    assert sptile.read(os.fsencode(path)).dtype == np.float64
    empty = tmp_path / "empty.mtx"
    empty.write_bytes(b"%%MatrixMarket matrix coordinate real general\n4 5 0\n")
    assert sptile.read(empty).shape == (4, 5)


@given(coo_matrices())
def test_a_bundle_gives_back_what_it_was_made_of(matrix: sp.coo_array) -> None:
    bundle = sptile.convert(matrix, dtype="float64", formats=["bittcf"])
    arrays = bundle.csr()
    back = sp.csr_array((arrays.values, arrays.indices, arrays.indptr), shape=bundle.shape)
    assert same(back, matrix.astype(np.int64 if matrix.dtype == bool else matrix.dtype))  # repeated entries are counted


def test_what_is_read_outlives_everything_else() -> None:
    indices = sptile.read(PLATE).indices
    gc.collect()
    assert np.array_equal(indices, scipy.io.mmread(PLATE).tocsr().indices)


# ---- convert ----


def test_the_same_bytes_as_the_command(tmp_path: Path) -> None:
    program = command()
    if program is None:
        pytest.skip("the sptile command is not there: set SPTILE_COMMAND")
    theirs, ours = tmp_path / "theirs.h5", tmp_path / "ours.h5"
    options = ["--format", "bittcf,tall:64", "--reorder", "pack", "--preset", "fast", "--set", "swap-passes=1", "--seed", "3"]
    subprocess.run([program, "convert", PLATE, theirs, "--refreshable", *options], check=True, capture_output=True)
    sptile.convert(
        PLATE, ours, formats="bittcf,tall:64", reorder="pack", preset="fast", settings={"swap-passes": 1}, seed=3,
        refreshable=True, transpose=False,
    )  # fmt: skip
    assert ours.read_bytes() == theirs.read_bytes()


def test_same_source_same_bytes(tmp_path: Path) -> None:
    """A file, and two formats of SciPy's with ids of two widths; all that differs is where they came from."""
    matrix = scipy.io.mmread(PLATE).tocsr()
    wide = matrix.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    bundles = []
    for number, source in enumerate([matrix, matrix.tocoo(), matrix.tocsc(), wide]):
        path = tmp_path / f"{number}.h5"
        sptile.convert(source, path, reorder="degree", threads=1 + number)
        bundles.append(path.read_bytes())
    assert len(set(bundles)) == 1


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
@pytest.mark.parametrize("flavour", [sp.csr_array, sp.csr_matrix])
def test_every_format_of_scipy(kind: str, flavour: Any) -> None:
    matrix = random_csr(24, 24, dtype=np.float64)
    source = flavour(matrix).asformat(kind)
    before = source.copy()
    bundle = sptile.convert(source, formats="csr", dtype="float64")
    assert np.array_equal(np.asarray(bundle.csr().values), matrix.data)
    assert same(source, before)  # not changed


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", np.float32, np.dtype("float64")])
@pytest.mark.parametrize("path", [None, "a.h5"])
def test_products_of_every_type(dtype: Any, path: str | None, tmp_path: Path) -> None:
    matrix = random_csr(70, 50, dtype=np.float64)
    bundle = sptile.convert(matrix, path and tmp_path / path, dtype=dtype, reorder="degree", transpose=True)
    b = np.random.default_rng(2).uniform(-1, 1, (50, 8)).astype(np.float32)
    if str(getattr(dtype, "__name__", dtype)) == "float64":
        b = b.astype(np.float64)
    c = bundle.plan(8, dtype=b.dtype, format="bittcf")(b)
    bound = {"float16": 2e-2, "bfloat16": 2e-1}.get(str(dtype), 1e-4)
    assert np.allclose(c, matrix @ b, atol=bound)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_read_of_narrow_values(dtype: str, tmp_path: Path) -> None:
    matrix = random_csr(30, 20, dtype=np.float64)
    matrix.data = np.round(matrix.data * 64) / 64  # exact in both
    sptile.convert(matrix, tmp_path / "a.h5", formats="csr", dtype=dtype)
    again = sptile.read(tmp_path / "a.h5")
    assert again.dtype == np.float32
    assert same(again, matrix.astype(np.float32))


def test_transpose_where_it_costs_nothing() -> None:
    square = random_csr(30, 30, dtype=np.float64)
    symmetric = sp.csr_array(square + square.T)
    x = np.ones((30, 2), np.float32)
    assert sptile.convert(symmetric).symmetric is True
    for matrix, transpose in ((symmetric, "auto"), (square, True)):
        bundle = sptile.convert(matrix, formats="bittcf", transpose=transpose)
        assert np.allclose(bundle.plan(2, transpose=True, format="bittcf")(x), matrix.T @ x, atol=1e-4)
    with pytest.raises(sptile.Error):
        sptile.convert(square, formats="bittcf", transpose="auto").plan(2, transpose=True, format="bittcf")


def test_a_bundle_in_memory_serves_several_plans_and_values() -> None:
    matrix = random_csr(40, 40, dtype=np.float32)
    bundle = sptile.convert(matrix, refreshable=True)
    plan = bundle.plan(3, refreshable=True)
    files = len(os.listdir("/proc/self/fd"))
    plan.refresh(2 * matrix.data)
    b = np.ones((40, 3), np.float32)
    assert np.allclose(plan(b), 2 * (matrix @ b), atol=1e-4)
    del bundle
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= files
    assert np.allclose(plan(b), 2 * (matrix @ b), atol=1e-4)


def test_no_descriptor_is_lost() -> None:
    matrix = random_csr(8, 8)
    sptile.convert(matrix)
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        sptile.convert(matrix, formats="csr")
        with pytest.raises(sptile.UsageError):
            sptile.convert(matrix, formats="none")
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


def test_values_that_are_too_large() -> None:
    matrix = sp.csr_array([[1.0, 1e6]])
    with pytest.warns(RuntimeWarning, match="too large for float16.*: 1"):
        sptile.convert(matrix, dtype="float16")
    with pytest.raises(sptile.BadInputError, match="too large|float16"):
        sptile.convert(matrix, dtype="float16", strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sptile.convert(matrix, dtype="bfloat16")


def told(call: Any) -> list[str]:
    """What a call warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(w.message) for w in caught if w.category is RuntimeWarning]


@pytest.mark.parametrize(
    ("values", "dtype", "message"),
    [
        ([2**24 + 1, 2**24], "float32", "integers that float32 cannot represent exactly, rounded values in the bundle: 1"),
        ([2**53 + 1, 1], "float64", "integers that float64 cannot represent exactly, rounded values in the bundle: 1"),
        ([2049, 2048], "float16", "integers that float16 cannot represent exactly, rounded values in the bundle: 1"),
        ([1e-50, 0.0], "float32", "values too small for float32, 0 in the bundle: 1"),
        ([1e-10, 1.0], "float16", "values too small for float16, 0 in the bundle: 1"),
        ([1e300, 1.0], "float32", "values too large for float32, infinite in the bundle: 1"),
        ([0.1, 16777217.0], "float32", None),
        ([True, True], "float16", None),
    ],
)
def test_values_that_the_type_cannot_hold(values: list[Any], dtype: str, message: str | None) -> None:
    matrix = sp.csr_array(np.array([values]))
    assert told(lambda: sptile.convert(matrix, dtype=dtype, formats="csr")) == ([message] if message else [])
    if message is None:
        sptile.convert(matrix, dtype=dtype, formats="csr", strict=True)
    else:
        with pytest.raises(sptile.BadInputError):
            sptile.convert(matrix, dtype=dtype, formats="csr", strict=True)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.float32])
@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
def test_repeated_entries_are_summed_without_wrapping(dtype: Any, layout: str) -> None:
    one, many = np.zeros(3, int), np.array([0, 3])
    values = np.full(3, 100 if dtype is not bool else 1, dtype)
    make = {"coo": sp.coo_array, "csr": sp.csr_array, "csc": sp.csc_array}[layout]
    matrix = make((values, (one, one)) if layout == "coo" else (values, one, many), shape=(1, 1))
    assert sptile.convert(matrix, formats="csr").tocsr().toarray() == (3 if dtype is bool else 300)


def test_integers_beyond_the_type_of_any_matrix() -> None:
    with pytest.raises(sptile.UsageError, match="uint64"):
        sptile.convert(sp.csr_array(np.array([[2**63]], np.uint64)))


# ---- reorder ----


@given(coo_matrices(), st.sampled_from(["identity", "degree", "random", "rcm", "pack", "auto"]))
def test_an_order_is_a_permutation(matrix: sp.coo_array, method: str) -> None:
    if method == "rcm" and matrix.shape[0] != matrix.shape[1]:
        matrix = sp.coo_array(matrix @ matrix.T)
    try:
        ordering = sptile.reorder(matrix, method)
    except sptile.UnsupportedError:  # some methods take square matrices only
        return
    assert ordering.permutation.dtype == np.int32
    assert sorted(ordering.permutation) == list(range(matrix.shape[0]))
    assert [w.window_rows for w in ordering.after.windows] == [8, 16, 32, 64, 128]


def test_the_quality_is_that_of_the_order() -> None:
    matrix = scipy.io.mmread(PLATE).tocsr()
    ordering = sptile.reorder(matrix, "random", seed=4)
    again = sptile.reorder(matrix, "random", seed=4)
    assert np.array_equal(ordering.permutation, again.permutation)
    assert not np.array_equal(ordering.permutation, sptile.reorder(matrix, "random", seed=5).permutation)
    assert ordering.after.windows[0].distinct_columns > ordering.before.windows[0].distinct_columns
    moved = sptile.reorder(matrix[ordering.permutation], "identity")
    assert moved.before.windows == ordering.after.windows
    windows = [len(set(matrix[i : i + 8].indices)) for i in range(0, matrix.shape[0], 8)]
    assert ordering.before.windows[0].distinct_columns == sum(windows)
    assert sptile.reorder(random_csr(5, 7)).before.bandwidth is None


# ---- torch, CuPy ----


@pytest.mark.parametrize("layout", ["sparse_csr", "sparse_coo", "sparse_csc"])
def test_torch(layout: str) -> None:
    torch = pytest.importorskip("torch")
    dense = torch.tensor([[0, 1.5, 0], [2, 0, -3]], requires_grad=True)
    for dtype in (torch.float64, torch.float32, torch.bfloat16, torch.int32):
        source = getattr(dense.detach().to(dtype), {"sparse_coo": "to_sparse"}.get(layout, f"to_{layout}"))()
        bundle = sptile.convert(source, dtype="float64")
        expected = dense.detach().to(dtype).to(torch.float64).numpy()
        x = np.eye(3)
        assert np.array_equal(bundle.plan(3, dtype="float64")(x), expected)
    with pytest.raises(sptile.UsageError, match="to_sparse_csr"):
        sptile.convert(dense)
    with pytest.raises(sptile.UsageError, match="complex"):
        sptile.convert(dense.detach().to(torch.complex64).to_sparse())


def test_cupy() -> None:
    pytest.importorskip("cupy")
    import cupyx.scipy.sparse as csp

    matrix = random_csr(30, 20, dtype=np.float32)
    for kind in ("csr", "csc", "coo"):
        bundle = sptile.convert(csp.csr_matrix(sp.csr_matrix(matrix)).asformat(kind))
        assert np.array_equal(np.asarray(bundle.csr().values), matrix.data)


# ---- Wrong inputs ----


def broken(**changes: Any) -> sp.csr_array:
    """A CSR array of SciPy's whose parts were changed behind its back."""
    matrix = sp.csr_array(np.arange(1.0, 13).reshape(3, 4))
    for name, value in changes.items():
        setattr(matrix, name, np.asarray(value))
    return matrix


WRONG_MATRICES = [
    (np.ones((3, 3)), sptile.UsageError, "csr_array"),
    (None, sptile.UsageError, "NoneType"),
    (7, sptile.UsageError, "int"),
    ("", sptile.UsageError, "path"),
    ("a\0b", sptile.UsageError, "NUL"),
    ("/does/not/exist.mtx", sptile.IoError, "No such file"),
    ("/", sptile.IoError, "is a directory"),
    ("-", sptile.IoError, "No such file"),
    (sp.csr_array(np.eye(3, dtype=complex)), sptile.UsageError, "complex"),
    (sp.csr_array(np.eye(3, dtype=np.longdouble)), sptile.UsageError, "longdouble|float128"),
    (broken(indptr=[0, 4, 3, 12]), sptile.BadInputError, r"row_ptr\[2\] is 3"),
    (broken(indptr=[1, 4, 8, 12]), sptile.BadInputError, r"row_ptr\[0\] is 1"),
    (broken(indptr=[0, 4, 2**31 - 1, 12]), sptile.BadInputError, r"row_ptr\[2\]"),
    (broken(indptr=[0, 4, 12]), sptile.UsageError, "must have 4 row pointers, got 3"),
    (broken(indptr=[0, 4, 8, 13]), sptile.UsageError, "end with 13"),
    (broken(indptr=[0, 4, 8, -1]), sptile.UsageError, "end with -1"),
    (broken(indptr=[0.0, 4, 8, 12]), sptile.UsageError, "float64"),
    (broken(indices=np.arange(12)), sptile.BadInputError, r"col_idx\[4\] is 4; expected 0 to 3"),
    (broken(indices=[-1] * 12), sptile.BadInputError, "col_idx"),
    (broken(indices=[0] * 5), sptile.UsageError, "5 column ids"),
    (broken(data=np.ones(3)), sptile.UsageError, "3 values"),
    (broken(data=np.ones((3, 4))), sptile.UsageError, "dimensions"),
]


@pytest.mark.parametrize(("matrix", "error", "message"), WRONG_MATRICES)
@pytest.mark.parametrize("function", [sptile.convert, sptile.reorder])
def test_wrong_matrices(function: Any, matrix: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        function(matrix)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"formats": "bitcf"}, "bittcf"),
        ({"formats": "tall:-3"}, "tall"),
        ({"formats": 7}, "formats"),
        ({"reorder": "rmc"}, "rcm"),
        ({"reorder": None}, "str"),
        ({"reorder": "pack", "preset": "quick"}, "preset"),
        ({"reorder": "pack", "settings": {"swap-passes": "many"}}, "not a number"),
        ({"reorder": "pack", "settings": {"nothing": 1}}, "nothing"),
        ({"window_rows": 0}, "1 to 1024"),
        ({"seed": 0}, "seed"),
        ({"seed": 2**64}, "seed"),
        ({"seed": 1.5}, "int"),
        ({"threads": -1}, "threads"),
        ({"dtype": "int8"}, "bfloat16"),
        ({"dtype": "complex64"}, "bfloat16"),
        ({"transpose": "yes"}, "auto"),
        ({"path": 3}, "path"),
        ({"path": "a.mtx"}, "h5|bundle"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(sptile.UsageError, match=message):
        sptile.convert(random_csr(4, 4), **options)
    assert os.listdir(tmp_path) == []


def test_errors_are_builtins_too(tmp_path: Path) -> None:
    (tmp_path / "bad.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n")
    with pytest.raises(ValueError, match=r"bad\.mtx:3"):
        sptile.read(tmp_path / "bad.mtx")
    with pytest.raises(OSError, match="nothing"):
        sptile.read(tmp_path / "nothing.mtx")
    with pytest.raises(sptile.UsageError, match="float32 or float64"):
        sptile.read(PLATE, dtype="float16")


# ---- Files ----


def test_files_are_kept_unless_told_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    path.write_text("mine")
    with pytest.raises(sptile.UsageError, match="overwrite"):
        sptile.convert(PLATE, path)
    assert path.read_text() == "mine"
    assert sptile.convert(PLATE, path, overwrite=True).nnz == sptile.open(path).nnz
    assert os.listdir(tmp_path) == ["a.h5"]
    # A bundle may be replaced by what is made of it.
    again = sptile.convert(path, path, formats="csr", overwrite=True)
    assert again.formats == ("csr",)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        folder = Path("/proc")  # root may write everywhere else
    else:
        folder = tmp_path / "closed"
        folder.mkdir(mode=0o500)
    with pytest.raises(sptile.IoError):
        sptile.convert(PLATE, folder / "a.h5")
    with pytest.raises(sptile.IoError):
        sptile.convert(PLATE, tmp_path / "none" / "a.h5")


# A shell has those that it runs in the background ignore Ctrl-C, and so do what they start.
INTERRUPTED = """
import signal, sys, sptile
signal.signal(signal.SIGINT, signal.default_int_handler)
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted")
else:
    print("finished")
"""


@pytest.mark.parametrize("call", ["sptile.convert(sys.argv[1], sys.argv[2], reorder='pack', preset='quality')", "sptile.reorder(sys.argv[1], 'pack', preset='quality')"])
def test_ctrl_c_stops_and_leaves_nothing(call: str, large_matrix: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED.format(call=call), large_matrix, tmp_path / "a.h5"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    wait_for_work(process.pid, 0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert out == "interrupted\n", out + err
    assert err == ""
    assert os.listdir(tmp_path) == []


@pytest.fixture(scope="module")
def large_matrix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Takes seconds to read and order."""
    rng = np.random.default_rng(1)
    rows = 400_000
    ids = rng.integers(0, rows, (2, 5 * rows))
    path = tmp_path_factory.mktemp("large") / "large.h5"
    sptile.convert(sp.coo_array((np.ones(5 * rows, np.float32), (ids[0], ids[1])), shape=(rows, rows)), path, formats="csr")
    return path


def test_other_threads_convert_too() -> None:
    """Only the main thread gets signals, so that others take another way."""
    results: list[Any] = []
    matrix = random_csr(100, 100)
    threads = [threading.Thread(target=lambda: results.append(sptile.convert(matrix).nnz)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [matrix.nnz] * 4
    failures: list[str] = []

    def fail() -> None:
        try:
            sptile.convert(matrix, formats="none")
        except sptile.UsageError as error:
            failures.append(str(error))

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    assert "none" in failures[0]


def test_after_a_fork() -> None:
    result = run_python(f"""
import os, sptile
sptile.convert({str(PLATE)!r}, reorder="degree")
child = os.fork()
if child == 0:
    sptile.convert({str(PLATE)!r}, reorder="degree")
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    assert result.stdout == "7\n", result.stderr


def test_importing_does_not_load_the_tools() -> None:
    result = run_python("import sptile; sptile.convert; print(any('libsptile-tools' in line for line in open('/proc/self/maps')))")
    assert result.stdout == "False\n", result.stderr


def test_a_missing_library_is_said() -> None:
    result = run_python("import sptile; sptile.read('a.mtx')", SPTILE_TOOLS_LIBRARY="/does/not/exist.so")
    assert "ImportError" in result.stderr and "SPTILE_TOOLS_LIBRARY" in result.stderr


def test_docstrings_name_every_argument() -> None:
    for function in (sptile.read, sptile.convert, sptile.reorder):
        text = inspect.getdoc(function) or ""
        for name in inspect.signature(function).parameters:
            assert name in text, f"{function.__name__}: {name}"
