"""The comparison with other CPU libraries, tools/bench/cpu_vendors.py: its CSV file and its summary, not its times."""

from __future__ import annotations

import csv
import gzip
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ROOT

sys.path.append(str(ROOT / "tools/bench"))

import cpu_vendors  # noqa: E402
from vendors import table  # noqa: E402

PLATE = ROOT / "data/examples/fem_plate.mtx"


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for what the script compiles."""
    if shutil.which("c++") is None:
        pytest.skip("no C++ compiler")
    return tmp_path_factory.mktemp("bench")


@pytest.fixture
def measure(build: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs the script; returns the rows of its CSV file, its output and its messages."""

    def run(*words: str) -> tuple[list[dict[str, str]], list[str], str]:
        file = tmp_path / "out.csv"
        common = ["--csv", str(file), "--build", str(build), "--seconds", "0", "--min-entries", "1"]
        cpu_vendors.main([*common, *words])
        printed = capsys.readouterr()
        with open(file, newline="") as text:
            return list(csv.DictReader(text)), printed.out.splitlines(), printed.err

    return run


def test_every_case_has_a_row_with_times_and_what_they_were_measured_on(measure: Any) -> None:
    rows, printed, _ = measure("-n", "1,5", "--vendors", "scipy,eigen", "--stream", "--commit", "0123abc", str(PLATE))
    cases = [(row["type"], row["n"], row["threads"], row["format"]) for row in rows]
    assert sorted(cases) == [(t, n, p, "csr") for t in ("f32", "f64") for n in "15" for p in "12"]
    for row in rows:
        assert row["matrix"] == "fem_plate"
        assert float(row["sptile_us"]) > 0 and float(row["scipy_us"]) > 0
        assert row["mkl_us"] == ""
        assert bool(row["read_us"]) == (row["n"] == "1")
        assert "cores" in row["processor"] and row["commit"] == "0123abc"
        assert row["versions"].startswith("SciPy ") and ("Eigen" in row["versions"]) == bool(row["eigen_us"])
    assert printed[-9] == rows[0]["processor"]
    assert all("over SciPy" in line for line in printed[-8:])


def test_a_read_transfers_the_bytes_of_the_product(measure: Any) -> None:
    rows, _, _ = measure("-n", "1", "--vendors", "", "--threads", "1", "--stream", str(PLATE))
    for row, size in zip(rows, (4, 8)):
        vectors = int(row["rows"]) + int(row["cols"])
        assert int(row["bytes"]) == int(row["nonzeros"]) * (4 + size) + 8 * (int(row["rows"]) + 1) + vectors * size


def test_folders_compressed_files_and_small_matrices(measure: Any, tmp_path: Path) -> None:
    folder = tmp_path / "matrices"
    folder.mkdir()
    (folder / "plate.mtx.gz").write_bytes(gzip.compress(PLATE.read_bytes()))
    sp.save_npz(folder / "stored.npz", sp.random(300, 200, 0.1, "csr", random_state=1))
    sp.save_npz(folder / "small.npz", sp.eye(3, format="csr"))
    (folder / "broken.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 1\n")
    (folder / "notes.txt").write_text("no matrix")
    rows, _, messages = measure(
        "-n", "2", "--vendors", "", "--types", "f32", "--threads", "1", "--min-entries", "10", str(folder)
    )
    assert [row["matrix"] for row in rows] == ["plate", "stored"]
    assert "broken.mtx: skipped" in messages


def test_formats_are_compared_in_one_case(measure: Any) -> None:
    formats = ["csr", "bmat", "tall:64"]
    case = ["-n", "8", "--vendors", "", "--types", "f32", "--threads", "1"]
    rows, _, _ = measure(*case, "--formats", ",".join(formats), str(PLATE))
    assert [row["format"] for row in rows] == formats
    assert ["csr" in rows[0]["kernel"], "bmat" in rows[1]["kernel"], "tall" in rows[2]["kernel"]] == [True] * 3


class Wrong(cpu_vendors.VENDORS["scipy"]):
    """A library whose products are wrong by a factor of 2."""

    title = "wrong"

    def __init__(self, setup: Any, case: Any) -> None:
        super().__init__(setup, case)
        self._c = case.c

    def run(self) -> None:
        super().run()
        self._c *= 2


class Absent(cpu_vendors.VENDORS["scipy"]):
    title = "absent"

    @classmethod
    def load(cls, setup: Any) -> None:
        raise cpu_vendors.Missing("not here; install it")


def test_a_wrong_or_missing_library_is_left_out(measure: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cpu_vendors.VENDORS, "mkl", Wrong)
    monkeypatch.setitem(cpu_vendors.VENDORS, "eigen", Absent)
    rows, _, messages = measure("-n", "3", "--types", "f64", "--threads", "1", str(PLATE))
    assert [(row["mkl_us"], row["eigen_us"]) for row in rows] == [("", "")]
    assert float(rows[0]["scipy_us"]) > 0
    assert "mkl: the relative error" in messages
    assert "absent skipped: not here; install it" in messages


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_results_are_compared_to_the_precision_of_their_type(dtype: type) -> None:
    a = sp.csr_matrix(np.ones((2, 2), dtype))
    b, reference = np.ones((2, 1), dtype), np.full((2, 1), 2.0)
    case = cpu_vendors.Case(a, b, np.zeros((2, 1), dtype), 1, reference, reference)

    class Off:
        """Returns results with an error of `steps` rounding units."""

        def __init__(self, steps: int) -> None:
            self.steps = steps

        def run(self) -> None:
            case.c[:] = 2 + 2 * self.steps * np.finfo(dtype).eps

    cpu_vendors.check(Off(2), case)
    with pytest.raises(ValueError, match="relative error"):
        cpu_vendors.check(Off(20), case)


def row(**columns: Any) -> dict[str, str]:
    plain = {"type": "f32", "n": 1, "threads": 1, "format": "csr", "processor": "P", "sptile_us": 10}
    return {name: str(value) for name, value in (plain | columns).items()}


def test_the_summary_has_geometric_means_and_the_worst_matrix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        row(matrix="a", mkl_us=20, scipy_us=40, read_us=5),
        row(matrix="b", mkl_us=5, read_us=20),
        row(matrix="c", mkl_us=80, read_us=10),
        row(matrix="a", n=4, threads=2, eigen_us=15),
        row(matrix="a", processor="Q"),
    ]
    table.write(tmp_path / "some.csv", rows)
    cpu_vendors.main(["--summary", str(tmp_path / "some.csv")])
    assert capsys.readouterr().out.splitlines() == [
        "P",
        "csr f32 N = 1, 1 thread: over oneMKL 2.00 (0.50 b; 3 cases); over SciPy 4.00 (4.00 a; 1 cases); "
        "bandwidth 1.00 of a read",
        "csr f32 N = 4, 2 threads: over Eigen 1.50 (1.50 a; 1 cases)",
        "Q",
        "csr f32 N = 1, 1 thread: 1 cases",
    ]


def test_times_are_minima_of_turns_in_alternating_order(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    class Fake:
        def __init__(self, name: str, times: list[float]) -> None:
            self.name, self.times = name, iter(times)

        def seconds(self, count: int, warm: int) -> float:
            calls.append(f"{self.name}{count}")
            return next(self.times) * count

    case = cpu_vendors.Case(None, None, None, 1, None, None)
    options = cpu_vendors.parse(["--seconds", "0", "x.mtx"])
    sample = cpu_vendors.SAMPLE
    fakes = {"a": Fake("a", [sample, sample / 4, sample, sample / 8, sample]), "b": Fake("b", [sample] * 5)}
    least = cpu_vendors.time_in_turns(fakes, case, options)
    assert least == {"a": sample / 8, "b": sample}
    assert calls == ["a1", "a1", "b1", "b1", "a4", "b4", "b4", "a4", "a4", "b4"]


@pytest.mark.parametrize(
    ("fastest", "slowest", "runs"), [(1e-5, 1e-5, 50), (1e-5, 1e-3, 10), (1e-5, 0.1, 1), (0.1, 0.2, 1)]
)
def test_loops_are_short_for_every_library(fastest: float, slowest: float, runs: int) -> None:
    assert cpu_vendors.number_of_runs([slowest, fastest]) == runs


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name a matrix"),
        (["--vendors", "mlk", "a.mtx"], "'mlk' is not one of mkl, scipy, eigen"),
        (["--threads", "0", "a.mtx"], "0 is less than 1"),
    ],
)
def test_wrong_options_are_refused(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cpu_vendors.main(words)
    assert message in capsys.readouterr().err
