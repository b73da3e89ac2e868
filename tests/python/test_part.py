"""sptile.open_part: the lists of each part fit those of the others, and together the parts are the matrix."""

from __future__ import annotations

import copy
import ctypes
import os
import pickle
import shutil
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
import sptile
from conftest import command, random_csr
from sptile import _library as c

PARTS = 3


@pytest.fixture(scope="module")
def matrix() -> sp.csr_array:
    return random_csr(50, 50, 0.1, np.float64, seed=3)


@pytest.fixture(scope="module")
def folder(matrix: sp.csr_array, tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = command()
    if program is None:
        pytest.skip("the sptile command is not there: set SPTILE_COMMAND")
    base = tmp_path_factory.mktemp("parts")
    scipy.io.mmwrite(base / "a.mtx", matrix, precision=17)
    typed = [
        program,
        "partition",
        base / "a.mtx",
        "--parts",
        str(PARTS),
        "--dtype",
        "f64",
        "-o",
        base / "parts",
    ]
    subprocess.run([*typed, "-q"], check=True)
    return base / "parts"


def test_parts_are_the_matrix(matrix: sp.csr_array, folder: Path) -> None:
    parts = [sptile.open_part(folder / f"part-{rank:04d}.h5") for rank in range(PARTS)]
    again = np.zeros(matrix.shape)
    for rank, part in enumerate(parts):
        assert (part.rank, part.parts, part.shape, part.nnz) == (rank, PARTS, matrix.shape, matrix.nnz)
        assert part.id == parts[0].id and len(part.id) == 16 and not part.symmetric
        assert (np.diff(part.halo.csr().indptr) > 0).tolist() == [i >= part.interior for i in range(len(part.old_ids))]
        again[np.ix_(part.old_ids, part.old_ids)] += part.local.tocsr().toarray()
        again[np.ix_(part.old_ids, part.halo_ids)] += part.halo.tocsr().toarray()
        for sender in parts:
            sent = sender.send_rows[sender.send_offset[rank] : sender.send_offset[rank + 1]]
            needed = part.halo_ids[part.receive_offset[sender.rank] : part.receive_offset[sender.rank + 1]]
            assert sender.old_ids[sent].tolist() == needed.tolist()
    assert np.array_equal(again, matrix.toarray())
    assert f"{PARTS}: " in repr(parts[0]) and "of 50 rows" in repr(parts[0])


def test_arrays_stay_when_the_part_goes(folder: Path) -> None:
    part = sptile.open_part(folder / "part-0001.h5")
    ids, expected = part.old_ids, part.old_ids.tolist()
    copied = sptile.open_part(folder / "part-0001.h5", copy=True)
    del part
    assert ids.tolist() == expected == copied.old_ids.tolist()
    with pytest.raises(ValueError, match="read-only"):
        ids[0] = 1


def test_what_is_no_part(folder: Path, bundle_path: Path, tmp_path: Path) -> None:
    with pytest.raises(sptile.BadInputError, match="not a part of a partition"):
        sptile.open_part(bundle_path)
    with pytest.raises(sptile.IoError, match="nowhere"):
        sptile.open_part(tmp_path / "nowhere.h5")
    with pytest.raises(sptile.UsageError, match="path must be"):
        sptile.open_part(5)  # type: ignore[arg-type]


def test_calls_that_make_no_sense(folder: Path) -> None:
    path, handle = str(folder / "part-0000.h5").encode(), ctypes.c_void_p()
    assert c.lib.sptile_part_open(None, None, ctypes.byref(handle)) == c.STATUS_USAGE
    assert "path is NULL" in c.last_error()
    assert c.lib.sptile_part_open(path, None, None) == c.STATUS_USAGE
    assert "part is NULL" in c.last_error()
    options = c.MatrixOptions(matrix=b"halo")
    assert c.lib.sptile_part_open(path, ctypes.byref(options), ctypes.byref(handle)) == c.STATUS_USAGE
    assert "options.matrix" in c.last_error() and not handle
    info = c.PartInfo()
    assert c.lib.sptile_part_describe(None, ctypes.byref(info)) == c.STATUS_USAGE
    assert c.lib.sptile_part_open(path, None, ctypes.byref(handle)) == c.STATUS_OK
    assert c.lib.sptile_part_describe(handle, None) == c.STATUS_USAGE
    info.size = 8
    assert c.lib.sptile_part_describe(handle, ctypes.byref(info)) == c.STATUS_USAGE
    assert "info.size = 8" in c.last_error()
    c.lib.sptile_part_destroy(handle)
    c.lib.sptile_part_destroy(None)


def test_a_part_is_opened_once(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, rank in (("one", 0), ("two", 1)):
        (tmp_path / name).mkdir()
        shutil.copy(folder / f"part-{rank:04d}.h5", tmp_path / name / "part.h5")
    opened: list[bytes] = []
    real = c.lib.sptile_matrix_open
    monkeypatch.setattr(c.lib, "sptile_matrix_open", lambda path, *rest: opened.append(path) or real(path, *rest))
    monkeypatch.chdir(tmp_path / "one")
    part = sptile.open_part("part.h5")
    shape = part.halo.shape
    os.replace(tmp_path / "two" / "part.h5", tmp_path / "one" / "part.h5")
    monkeypatch.chdir(tmp_path / "two")
    ones = np.ones((shape[1], 1))
    expected = part.halo.tocsr().sum()
    for halo in (part.halo, copy.copy(part).halo, copy.deepcopy(part).halo):
        assert halo.shape == shape
        assert np.isclose(halo.plan(1, transpose=False)(ones).sum(), expected)
    part.local.plan(1, refreshable=False)
    assert opened == []
    with pytest.raises(sptile.BadInputError, match="file changed after"):
        pickle.loads(pickle.dumps(part))


def test_parts_are_copied(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    part = sptile.open_part("part-0002.h5", copy=True)
    content = pickle.dumps((part, part.halo))
    monkeypatch.chdir("/")
    other, halo = pickle.loads(content)
    twin = copy.deepcopy(part)
    part.local.close()
    for one in (other, twin):
        assert (one.rank, one.id, one.shape, repr(one)) == (part.rank, part.id, part.shape, repr(part))
        assert np.array_equal(one.send_rows, part.send_rows)
        assert one.local.nnz + one.halo.nnz == part.local.nnz + part.halo.nnz
    assert abs(halo.tocsr() - part.halo.tocsr()).nnz == 0


def test_a_folder_that_is_exchanged_gives_no_mixed_parts(folder: Path, tmp_path: Path) -> None:
    """As `sptile partition --force` exchanges it: what is opened is of the one partition or of the other."""
    first, second = (shutil.copytree(folder, tmp_path / "first"), tmp_path / "second")
    subprocess.run(
        [command(), "partition", folder.parent / "a.mtx", "--parts", str(PARTS), "--method", "rows", "-o", second, "-q"],
        check=True,
    )

    def facts(part: sptile.Part) -> tuple[int, int, list[int]]:
        return part.local.nnz, part.halo.nnz, part.halo_ids.tolist()

    opened = [sptile.open_part(one / "part-0001.h5") for one in (first, second)]
    known = {part.id: facts(part) for part in opened}
    assert len(known) == 2
    libc, exchange, over = ctypes.CDLL(None, use_errno=True), 2, threading.Event()
    names = (os.fsencode(first), os.fsencode(second))

    def exchange_all_the_time() -> None:
        while not over.is_set():
            assert libc.renameat2(-100, names[0], -100, names[1], exchange) == 0

    thread = threading.Thread(target=exchange_all_the_time)
    thread.start()
    try:
        for _ in range(500):
            part = sptile.open_part(first / "part-0001.h5")
            assert facts(part) == known[part.id]
    finally:
        over.set()
        thread.join()
