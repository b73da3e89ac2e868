"""What the tests of the Python package share: devices, small matrices, bundles.

They test the package that Python finds: an installed wheel, or the tree with

    PYTHONPATH=runtime/python SPTILE_LIBRARY=build/runtime/libsptile.so.0 python -m pytest tests/python

What cannot be had here (CUDA, a compiler, the command) is skipped, and said so in the summary (-rs).
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import hypothesis
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

ROOT = Path(__file__).resolve().parents[2]

hypothesis.settings.register_profile("sptile", deadline=None, derandomize=True, max_examples=60)
hypothesis.settings.load_profile("sptile")


class Device(NamedTuple):
    """A device and the arrays on it: NumPy's, or CuPy's."""

    name: str
    arrays: ModuleType

    def put(self, array: np.ndarray) -> Any:
        return self.arrays.asarray(array)

    def get(self, array: Any) -> np.ndarray:
        return array if self.name == "cpu" else self.arrays.asnumpy(array)

    def sparse(self, matrix: sp.csr_array) -> Any:
        """A CSR matrix on the device."""
        if self.name == "cpu":
            return matrix
        import cupyx.scipy.sparse as csp

        return csp.csr_matrix(
            tuple(self.put(part) for part in (matrix.data, matrix.indices, matrix.indptr)), matrix.shape
        )


def _threads(pid: int) -> list[list[str]]:
    """Fields of /proc/PID/task/*/stat from the state on."""
    threads = []
    for path in Path(f"/proc/{pid}/task").glob("*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended
            threads.append(path.read_text().rpartition(")")[2].split())
    return threads


def wait_for_work(pid: int, seconds: float) -> None:
    """Waits until a process has used the given CPU time."""
    ticks = seconds * os.sysconf("SC_CLK_TCK")
    while sum(int(thread[11]) + int(thread[12]) for thread in _threads(pid)) < ticks:
        time.sleep(0.01)


def wait_until_blocked(pid: int) -> None:
    """Waits until all threads of a process sleep, and use no CPU time between two inspections."""
    before = None
    while before != (now := [thread[11:13] for thread in _threads(pid)]) or any(t[0] != "S" for t in _threads(pid)):
        before = now
        time.sleep(0.05)


def missing_cuda() -> str:
    """Why there are no tests on CUDA; "" where there are."""
    if importlib.util.find_spec("cupy") is None:
        return "CuPy is not installed"
    import cupy

    try:
        return "" if cupy.cuda.runtime.getDeviceCount() > 0 else "no CUDA device"
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"no CUDA device: {error}"


def has_torch() -> bool:
    """Whether torch can be imported."""
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True


@pytest.fixture(scope="session", params=["cpu", "cuda"])
def device(request: pytest.FixtureRequest) -> Device:
    if request.param == "cpu":
        return Device("cpu", np)
    if why := missing_cuda():
        pytest.skip(why)
    import cupy

    return Device("cuda", cupy)


def random_csr(
    rows: int, cols: int, density: float = 0.1, dtype: Any = np.float32, seed: int = 0
) -> sp.csr_array:
    """A CSR matrix with some empty rows, sorted, values in -1..1."""
    rng = np.random.default_rng(seed)
    dense = rng.uniform(-1, 1, (rows, cols)) * (rng.random((rows, cols)) < density)
    dense[rng.random(rows) < 0.2] = 0
    return sp.csr_array(dense.astype(dtype))


def random_dense(rows: int, cols: int, dtype: Any = np.float32, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, (rows, cols)).astype(dtype)


def command() -> str | None:
    """The sptile command: SPTILE_COMMAND, beside this Python, on PATH, beside the library of the build."""
    build = [*Path(os.environ.get("SPTILE_LIBRARY", ".")).resolve().parents, Path()][1]
    found = [
        os.environ.get("SPTILE_COMMAND"),
        str(Path(sys.executable).with_name("sptile")),
        shutil.which("sptile"),
        str(build / "tools" / "sptile"),
    ]
    return next((path for path in found if path and os.access(path, os.X_OK)), None)


def make_bundle(matrix: Any, path: Path, *arguments: str) -> Path:
    """Writes a bundle with `sptile convert`."""
    program = command()
    if program is None:
        pytest.skip("the sptile command is not there: set SPTILE_COMMAND")
    source = path.with_suffix(".mtx")
    scipy.io.mmwrite(source, matrix)
    subprocess.run([program, "convert", source, path, *arguments], check=True, capture_output=True)
    return path


@pytest.fixture(scope="session")
def small() -> sp.csr_array:
    """60 x 45, float64."""
    return random_csr(60, 45, dtype=np.float64)


@pytest.fixture(scope="session")
def bundle_path(small: sp.csr_array, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of `small` in all formats, float32, reordered, with formats of the transpose and what refresh
    needs."""
    path = tmp_path_factory.mktemp("bundles") / "small.h5"
    return make_bundle(small, path, "--refreshable", "--transpose", "--reorder", "degree")


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a program in an interpreter of its own."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
