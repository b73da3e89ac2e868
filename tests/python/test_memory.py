"""Matrices of many empty rows: measured by their entries alone, or refused with the bytes that they need."""

from __future__ import annotations

import json
import resource
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import command, run_python
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

MOST = 2**31 - 1
GIB = 1 << 30


def sptile(*arguments: str | Path, address_space: int | None = None) -> subprocess.CompletedProcess[str]:
    program = command()
    if program is None:
        pytest.skip("the sptile command is not there: set SPTILE_COMMAND")

    def limit() -> None:
        if address_space is not None:
            resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))

    return subprocess.run(
        [program, *map(str, arguments)], capture_output=True, text=True, timeout=60, preexec_fn=limit
    )


def stats(path: Path, **limits: int) -> dict[str, Any]:
    ended = sptile("stats", "--json", "-q", path, **limits)
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    del found["name"]
    return found


def write_market(path: Path, matrix: sp.coo_array, symmetry: str = "general") -> Path:
    lines = [f"{r + 1} {c + 1} {v!r}" for r, c, v in zip(*matrix.coords, matrix.data.tolist(), strict=True)]
    shape = " ".join(map(str, matrix.shape))
    head = [f"%%MatrixMarket matrix coordinate real {symmetry}", f"{shape} {matrix.nnz}"]
    path.write_text("\n".join([*head, *lines]) + "\n")
    return path


@st.composite
def hypersparse(draw: st.DrawFn) -> tuple[sp.csr_array, str]:
    """A matrix of more than 2048 rows per entry, whose entries are anywhere, close together, at ends of blocks of 128
    rows, or in the last rows; and its symmetry."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    entries = draw(st.sampled_from([0, 1, 2, 9, 40]))
    rows = 2050 * (2 * entries + 1) + draw(st.integers(0, 300))
    symmetry = draw(st.sampled_from(["general", "symmetric", "skew-symmetric"]))
    cols = rows if symmetry != "general" else draw(st.sampled_from([rows, 3, 500, MOST]))
    row = {
        "anywhere": lambda: rng.integers(0, rows, entries),
        "together": lambda: rng.integers(0, rows - 40) + rng.integers(0, 40, entries),
        "at blocks": lambda: np.clip(
            128 * rng.choice(rng.integers(0, rows // 128, 3), entries) + rng.integers(-3, 3, entries), 0, rows - 1
        ),
        "at the end": lambda: rows - 1 - rng.integers(0, 9, entries),
    }[draw(st.sampled_from(["anywhere", "together", "at blocks", "at the end"]))]()
    near = draw(st.booleans())
    col = np.clip(row + rng.integers(-9, 9, entries), 0, cols - 1) if near else rng.integers(0, cols, entries)
    values = rng.uniform(-1, 1, entries).round(3)
    if symmetry != "general":
        row, col = np.maximum(row, col), np.minimum(row, col)
        keep = (row != col) | (symmetry == "symmetric")
        row, col, values = row[keep], col[keep], values[keep]
    matrix = sp.csr_array(sp.coo_array((values, (row, col)), shape=(rows, cols)))
    return matrix, symmetry


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(hypersparse())
def test_stats_of_the_rows_with_entries_equal_those_of_all_rows(
    tmp_path: Path, matrix_and_symmetry: tuple[sp.csr_array, str]
) -> None:
    # Matrix Market is read without empty rows, archives of SciPy are not.
    matrix, symmetry = matrix_and_symmetry
    found = stats(write_market(tmp_path / "a.mtx", sp.coo_array(matrix), symmetry))
    whole = matrix
    if symmetry != "general":
        strict = sp.tril(matrix, -1)
        whole = matrix + (strict.T if symmetry == "symmetric" else -strict.T)
    sp.save_npz(tmp_path / "a.npz", sp.csr_matrix(whole))
    expected = stats(tmp_path / "a.npz")
    for one in (found, expected):  # summed in another order
        one["locality"]["jaccard_cost"] = pytest.approx(one["locality"]["jaccard_cost"], rel=1e-12)
    assert found["locality"].pop("jaccard_cost").expected == expected["locality"].pop("jaccard_cost")
    assert found == expected


@pytest.mark.parametrize("rows", [10**8, MOST])
def test_stats_of_one_entry_take_little_memory(tmp_path: Path, rows: int) -> None:
    last = sp.coo_array(([1.5], ([rows - 1], [0])), shape=(rows, rows))
    found = stats(write_market(tmp_path / "a.mtx", last), address_space=GIB)
    assert (found["rows"], found["nnz"], found["empty_rows"]) == (rows, 1, rows - 1)
    assert next(f for f in found["formats"] if f["name"] == "csr")["index_bytes"] == 8 * (rows + 1) + 4
    (tmp_path / "a.edges").write_text(f"{rows - 1} 0\n")
    assert stats(tmp_path / "a.edges", address_space=GIB)["empty_rows"] == rows - 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["convert", "-q", "a.mtx", "a.h5"],
        ["reorder", "-q", "a.mtx", "--method", "rcm", "-o", "b.mtx"],
        ["stats", "-q", "a.mtx", "--reorder", "degree"],
        ["gen", "random", "--rows", str(MOST), "--cols", "9", "--nnz", "1", "-o", "c.mtx"],
    ],
)
def test_the_command_refuses_rows_that_do_not_fit(tmp_path: Path, arguments: list[str]) -> None:
    write_market(tmp_path / "a.mtx", sp.coo_array(([1.0], ([0], [0])), shape=(MOST, MOST)))
    arguments = [str(tmp_path / a) if a.endswith((".mtx", ".h5")) else a for a in arguments]
    ended = sptile(*arguments, address_space=GIB)
    assert ended.returncode == 5, ended.stderr
    assert "16.0 GiB" in ended.stderr or str(8 * (MOST + 1)) in ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a.mtx"]


REFUSED = f"""
import os, resource
import numpy as np, scipy.sparse as sp
import sptile
try:
    import torch
    import sptile.torch as st
except ImportError:
    torch = None
os.chdir(os.environ["FOLDER"])
n = {MOST}
matrix = sp.coo_array(([1.0], ([n - 1], [0])), shape=(n, n))
with open("a.mtx", "w") as file:
    file.write(f"%%MatrixMarket matrix coordinate real general\\n{{n}} {{n}} 1\\n{{n}} 1 1\\n")
with open("/proc/self/status") as file:
    held = int(next(line for line in file if line.startswith("VmSize")).split()[1]) << 10
resource.setrlimit(resource.RLIMIT_AS, (held + (3 << 30),) * 2)
calls = [lambda: sptile.read("a.mtx"), lambda: sptile.reorder("a.mtx"), lambda: sptile.convert("a.mtx"),
         lambda: sptile.convert(matrix), lambda: sptile.reorder(matrix), lambda: sptile.Bundle.of(matrix),
         lambda: sptile.aslinearoperator(matrix)]
if torch is not None:
    edge = torch.tensor([[n - 1], [0]])
    coo = torch.sparse_coo_tensor(edge, [1.0], (n, n))
    wide = torch.sparse_coo_tensor([[0], [n - 1]], [1.0], (1, n))
    calls += [lambda: st.SparseMatrix.from_edge_index(edge), lambda: st.SparseMatrix.from_scipy(matrix),
              lambda: st.SparseMatrix.from_torch(coo), lambda: sptile.convert(coo),
              lambda: st.SparseMatrix.from_torch(wide).t().crow]
for number, call in enumerate(calls):
    try:
        call()
        print("no error", number)
    except sptile.IoError as error:
        print("refused" if "need" in str(error) and "memory" in str(error) else error)
"""


def test_python_refuses_rows_that_do_not_fit(tmp_path: Path) -> None:
    ended = run_python(REFUSED, FOLDER=str(tmp_path))
    lines = ended.stdout.split("\n")[:-1]
    assert len(lines) in (7, 12) and set(lines) == {"refused"}, ended.stdout + ended.stderr
