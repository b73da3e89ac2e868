"""Copies and pickles of bundles, plans, parts and operators are independent of what they were made of, or refused;
an open file stays what was opened."""

from __future__ import annotations

import copy
import gc
import multiprocessing
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sptile
from conftest import command, make_bundle, random_csr, random_dense
from sptile import _arrays

A: sp.csr_array = random_csr(30, 20, 0.2, np.float64, seed=4)
UNSORTED = A[:, ::-1]
UNSORTED.sort_indices()
UNSORTED.indices = 19 - UNSORTED.indices
UNSORTED.has_sorted_indices = False
B = random_dense(20, 3, np.float64)


def by_pickle(what: Any) -> Any:
    return pickle.loads(pickle.dumps(what))


COPIES: dict[str, Callable[[Any], Any]] = {
    "pickle": by_pickle,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "protocol 0": lambda what: pickle.loads(pickle.dumps(what, 0)),
    "protocol 2": lambda what: pickle.loads(pickle.dumps(what, 2)),
}


@pytest.fixture(params=COPIES)
def copied(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    return COPIES[request.param]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("copies") / "a.h5"
    return make_bundle(A, path, "--refreshable", "--transpose", "--reorder", "degree", "--dtype", "f64")


@pytest.fixture(params=["arrays", "unsorted", "file", "file in memory", "converted", "batch"])
def bundle(request: pytest.FixtureRequest, file: Path) -> sptile.Bundle:
    """A bundle of A from anywhere."""
    made: dict[str, Callable[[], sptile.Bundle]] = {
        "arrays": lambda: sptile.Bundle.of(A),
        "unsorted": lambda: sptile.Bundle.of(UNSORTED),
        "file": lambda: sptile.open(file),
        "file in memory": lambda: sptile.open(file, copy=True),
        "converted": lambda: sptile.convert(A, dtype="float64", refreshable=True, transpose=True, formats="csr,bittcf"),
        "batch": lambda: sptile.vstack([A[:11], A[11:]]),
    }
    return made[request.param]()


def test_bundles(bundle: sptile.Bundle, copied: Callable[[Any], Any]) -> None:
    twin = copied(bundle)
    assert type(twin) is type(bundle) and twin is not bundle
    assert (twin.shape, twin.nnz, twin.dtype) == (bundle.shape, bundle.nnz, bundle.dtype)
    assert (twin.formats, twin.symmetric, repr(twin)) == (bundle.formats, bundle.symmetric, repr(bundle))
    if isinstance(bundle, sptile.Batch):
        assert twin.row_offsets.tolist() == [0, 11, 30]
    fresh = np.linspace(1, 2, A.nnz)
    twin.plan(3, refreshable=True).refresh(fresh)  # the other has its own
    bundle.close()
    assert np.allclose(twin.plan(3)(B), A @ B)
    assert abs(twin.tocsr() - A).max() == 0


def test_plans(bundle: sptile.Bundle, copied: Callable[[Any], Any]) -> None:
    plan = bundle.plan(3, threads=1)
    twin = copied(plan)
    plan.close()
    bundle.close()
    assert (twin.op, twin.n, twin.format, twin.kernel) == ("spmm", 3, plan.format, plan.kernel)
    assert np.allclose(twin(B), A @ B)
    assert np.allclose(copied(twin)(B[:, :2], alpha=2), 2 * A @ B[:, :2])


def test_plans_of_a_transpose_and_of_lists(bundle: sptile.Bundle, copied: Callable[[Any], Any]) -> None:
    X = random_dense(30, 3, np.float64)
    assert np.allclose(copied(bundle.plan(3, transpose=True))(X), A.T @ X)
    dots = bundle.plan(3, op="sddmm")
    assert np.allclose(copied(dots).sddmm(X, B, scaled=True), dots.sddmm(X, B, scaled=True), atol=1e-12)


def test_new_values_go_along_and_stay_apart(bundle: sptile.Bundle, copied: Callable[[Any], Any]) -> None:
    if "csr" not in bundle.formats:
        pytest.skip("not refreshable")
    plan = bundle.plan(3, refreshable=True)
    source = UNSORTED if bundle._handle(False).order is not None else A
    changed = source.copy()
    changed.data = np.linspace(-1, 1, A.nnz)
    plan.refresh(changed.data)
    plan_twin, bundle_twin = copied(plan), copied(bundle)
    twins = [plan_twin, bundle_twin.plan(3, refreshable=True)]
    for twin in twins:
        assert np.allclose(twin(B), changed @ B)
        twin.refresh(2 * changed.data)
        assert np.allclose(twin(B), 2 * changed @ B)
    assert np.allclose(bundle_twin.plan(3)(B), A @ B)
    assert np.allclose(plan(B), changed @ B)
    plan.refresh(3 * changed.data)
    assert np.allclose(twins[0](B), 2 * changed @ B)


@pytest.mark.parametrize("together", [by_pickle, copy.deepcopy])
def test_what_belongs_together_stays_together(bundle: sptile.Bundle, together: Callable[[Any], Any]) -> None:
    plan, back = bundle.plan(3, refreshable=True), bundle.plan(3, refreshable=True, transpose=True)
    twins = together({"bundle": bundle, "plans": [plan, back]})
    twins["plans"][0].refresh(np.zeros(A.nnz))
    assert not twins["plans"][1](np.ones((30, 3))).any()
    assert not twins["bundle"].plan(3, refreshable=True)(B).any()
    assert np.allclose(plan(B), A @ B)


def test_copies_of_repeated_entries(copied: Callable[[Any], Any]) -> None:
    M = sp.coo_array((np.arange(1.0, 5), ([0, 1, 0, 0], [1, 0, 1, 0])), shape=(2, 2))
    X = np.eye(2)
    plan = sptile.plan(M, 2, op="sddmm", refreshable=True)
    assert copied(plan).sddmm(X + 1, X, scaled=True).tolist() == [1, 2, 3, 8]
    plan.refresh(np.array([4.0, 3, 2, 1]))
    assert copied(plan).sddmm(X + 1, X, scaled=True).tolist() == [4, 3, 2, 2]


def test_a_copy_does_not_follow_borrowed_arrays(copied: Callable[[Any], Any]) -> None:
    matrix = A.copy()
    plan = sptile.plan(matrix, 3)
    twin = copied(plan)
    matrix.data[:] = np.nan
    assert np.allclose(twin(B), A @ B)


def test_views_of_arrays(bundle: sptile.Bundle, copied: Callable[[Any], Any]) -> None:
    views = bundle.csr()
    twin = copied(views)
    del bundle, views
    gc.collect()
    assert np.allclose(sp.csr_array((twin.values, twin.indices, twin.indptr), (30, 20)) @ B, A @ B)


def test_operators(bundle: sptile.Bundle, copied: Callable[[Any], Any]) -> None:
    operator = sptile.aslinearoperator(bundle, threads=1)
    operator @ B
    twin = copied(operator)
    assert np.allclose(twin @ B, A @ B) and np.allclose(twin.T @ np.ones(30), A.T @ np.ones(30))
    assert np.allclose(copied(operator.H) @ np.ones(30), A.T @ np.ones(30))


def test_closed_ones_are_refused(copied: Callable[[Any], Any]) -> None:
    bundle = sptile.Bundle.of(A)
    plan = bundle.plan(1)
    plan.close()
    bundle.close()
    for name, closed in (("Bundle", bundle), ("Plan", plan)):
        with pytest.raises(TypeError, match=f"closed {name}"):
            copied(closed)


def test_device_memory_is_refused_by_name(copied: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match="DeviceMemory"):
        copied(_arrays.DeviceMemory(None, 8, 1, "<f4"))
    plan = sptile.plan(A, 1)
    with pytest.raises(TypeError, match="handle of a Plan"):
        copied(plan._handle)


# ---- Other processes ----


def total(what: Any) -> float:
    """Runs in another process."""
    plan = what.plan(3) if isinstance(what, sptile.Bundle) else what
    return float(plan(B).sum())


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_other_processes(method: str, file: Path) -> None:
    converted = sptile.convert(A, dtype="float64")
    sent = [sptile.open(file), sptile.Bundle.of(UNSORTED), sptile.open(file).plan(3), converted]
    context: Any = multiprocessing.get_context(method)
    with context.Pool(1) as pool:
        found = pool.map_async(total, sent).get(60)
    assert np.allclose(found, (A @ B).sum())


def test_an_executor(file: Path) -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert np.isclose(pool.submit(total, sptile.open(file)).result(60), (A @ B).sum())
        product = pool.submit(sptile.open(file).plan(3), B).result(60)  # a plan is what is called
    assert np.allclose(product, A @ B)


def test_a_pickle_names_its_file_from_anywhere(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    content = pickle.dumps(sptile.open(file.name).plan(3))
    program = "import pickle, sys; print(pickle.load(sys.stdin.buffer).shape)"
    done = subprocess.run([sys.executable, "-c", program], input=content, capture_output=True, cwd=tmp_path)
    assert done.stdout.split() == [b"(30,", b"20)"], done.stderr


# ---- Files ----


def diagonal(path: Path, scale: float) -> Path:
    sptile.convert(sp.csr_array(scale * np.eye(4)), path, formats="csr", dtype="float64", overwrite=True)
    return path


def uses(bundle: sptile.Bundle) -> list[float]:
    """What each way of using a bundle makes of ones."""
    x = np.ones((4, 1))
    return [
        float(found.sum())
        for found in (
            bundle.plan(1)(x),
            bundle.plan(1, refreshable=True)(x),
            bundle.tocsr() @ x,
            copy.deepcopy(bundle).plan(1)(x),
            copy.copy(bundle).plan(1, refreshable=True)(x),
            sptile.aslinearoperator(bundle).rmatmat(x),
            sptile.vstack([bundle]).plan(1)(x),
        )
    ]


@pytest.mark.parametrize("copied", [False, True])
@pytest.mark.parametrize("event", ["replaced", "deleted", "folder"])
def test_an_open_file_stays_what_was_opened(
    event: str, copied: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, scale in (("one", 1), ("two", 10)):
        (tmp_path / name).mkdir()
        diagonal(tmp_path / name / "m.h5", scale)
    monkeypatch.chdir(tmp_path / "one")
    bundle = sptile.open("m.h5", copy=copied)
    if event == "replaced":
        os.replace(tmp_path / "two" / "m.h5", tmp_path / "one" / "m.h5")
    elif event == "deleted":
        (tmp_path / "one" / "m.h5").unlink()
    else:
        monkeypatch.chdir(tmp_path / "two")
    assert uses(bundle) == [4.0] * 7


def test_the_pickle_of_a_file_that_has_changed_is_refused(tmp_path: Path) -> None:
    path = diagonal(tmp_path / "m.h5", 1)
    bundle = sptile.open(path)
    content = pickle.dumps((bundle, bundle.plan(1)))
    diagonal(path, 10)
    with pytest.raises(sptile.BadInputError, match="file changed after"):
        pickle.loads(content)
    diagonal(path, 1)  # the same content
    assert float(pickle.loads(content)[1](np.ones(4)).sum()) == 4
    path.unlink()
    with pytest.raises(sptile.IoError, match="cannot be opened"):
        pickle.loads(content)


def test_stored_plans_do_not_change_a_file(tmp_path: Path) -> None:
    program = command()
    if program is None:
        pytest.skip("the sptile command is not there: set SPTILE_COMMAND")
    path = diagonal(tmp_path / "m.h5", 1)
    content = sptile.open(path)._handle(False).content
    assert content != 0 and sptile.Bundle.of(A)._handle(False).content == 0
    assert sptile.open(diagonal(tmp_path / "n.h5", 2))._handle(False).content != content


def test_bundles_hold_no_descriptors(file: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    kept = [sptile.open(file) for _ in range(20)]
    plans = [one.plan(1, refreshable=True) for one in kept]
    assert len(os.listdir("/proc/self/fd")) == before
    del kept, plans


def test_memory_files_are_closed_with_their_last_user() -> None:
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    bundle = sptile.convert(A, dtype="float64")
    twin = by_pickle(bundle)
    plan = twin.plan(3)
    other = copy.deepcopy(bundle)
    del bundle, twin, other
    assert np.allclose(plan(B), A @ B)
    del plan
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before
