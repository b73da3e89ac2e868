"""tools/bench/train_partition.py: two processes train as one does, and a graph that is counted as too large is refused."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, command

torch = pytest.importorskip("torch")

if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
    pytest.skip("this torch has no gloo", allow_module_level=True)

SIZES = "--device cpu --features 24 --hidden 8 --heads 2 --classes 6 --epochs 8".split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph in one part and in two."""
    program = command()
    if program is None:
        pytest.skip("the sptile command is not there: set SPTILE_COMMAND")
    place = tmp_path_factory.mktemp("bench")
    typed = "gen planted --rows 2000 --edges 16000 --mix 0.02 --field pattern -o".split()
    subprocess.run([program, *typed, place / "graph.h5", "-q"], check=True)
    for parts in ("1", "2"):
        split = ["partition", place / "graph.h5", "--parts", parts, "--method", "rows", "-o", place / f"parts-{parts}"]
        subprocess.run([program, *split, "-q"], check=True)
    return place


def run(folder: Path, processes: int, *arguments: Any) -> tuple[int, list[dict[str, str]], str]:
    """The exit code, the rows and the messages."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    script = ROOT / "tools" / "bench" / "train_partition.py"
    done = subprocess.run(
        [*launcher, script, folder / f"parts-{processes}", *SIZES, *map(str, arguments)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, list(csv.DictReader(io.StringIO(done.stdout))), done.stderr


def test_losses_of_two_processes_equal_those_of_one(folder: Path) -> None:
    losses = folder / "one.json"
    code, one, message = run(folder, 1, "--losses", losses)
    assert code == 0, message
    assert "features" in message and "matrix" in message and "activations" in message
    code, two, message = run(folder, 2, "--compare", losses)
    assert code == 0, message
    assert [row["model"] for row in two] == ["gcn", "gat"]
    for ours, theirs in zip(two, one, strict=True):
        assert ours["processes"] == "2" and theirs["processes"] == "1"
        assert float(ours["first_loss"]) == pytest.approx(float(theirs["first_loss"]), rel=1e-4)
        assert float(ours["last_loss"]) < 0.95 * float(ours["first_loss"])
        assert float(ours["counted_gib"]) <= float(theirs["counted_gib"])
    code, _, message = run(folder, 2, "--compare", losses, "--seed", 2)
    assert code != 0 and "losses of gcn, gat differ" in message


def test_a_graph_that_is_too_large_is_not_trained(folder: Path) -> None:
    code, rows, message = run(folder, 1, "--limit-gib", 1e-4, "--models", "gcn")
    assert code == 0, message
    (row,) = rows
    assert row["error"] == "counted more than 0.0001 GiB" and row["last_loss"] == ""
