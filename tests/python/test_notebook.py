"""The notebook of the guide: it is stored without outputs, and its cells run."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

torch = pytest.importorskip("torch")
sp = pytest.importorskip("scipy.sparse")

CELLS: list[dict[str, Any]] = json.loads((ROOT / "docs" / "guide" / "cora.ipynb").read_text())["cells"]
CODE = ["".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"]


def run(cells: list[str], source: str, folder: Path) -> dict[str, Any]:
    """Runs cells with a source of data; returns their names."""
    space: dict[str, Any] = {}
    for number, cell in enumerate(cells):
        text = cell.replace('source = "auto"', f"source = {source!r}").replace('Path("planetoid")', f"Path({str(folder)!r})")
        exec(compile(text, f"cora.ipynb, code cell {number}", "exec"), space)
    return space


def test_the_notebook_has_no_outputs() -> None:
    assert len(CODE) == 4
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in CELLS if cell["cell_type"] == "code")


def test_cells_train_on_the_generated_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    space = run(CODE, "generated", tmp_path)
    assert "generated: 1400 nodes" in capsys.readouterr().out
    assert space["accuracy"] > 0.8


def test_files_of_planetoid_are_read(tmp_path: Path) -> None:
    """Six nodes, of which 5 and 4 are the test nodes, in this order in the files."""
    raw = tmp_path / "Cora" / "raw"
    raw.mkdir(parents=True)
    x, classes = torch.arange(12.0).view(6, 2), torch.tensor([0, 1, 2, 2, 1, 0])
    order = [0, 1, 2, 3, 5, 4]
    rows, labels = x[order].numpy(), torch.eye(3, dtype=torch.int32)[classes[order]].numpy()
    parts = {
        "allx": sp.csr_matrix(rows[:4]),
        "tx": sp.csr_matrix(rows[4:]),
        "ally": labels[:4],
        "ty": labels[4:],
        "y": labels[:2],
        "graph": {0: [1, 1, 0], 1: [0], 4: [3]},
    }
    for name, part in parts.items():
        (raw / f"ind.cora.{name}").write_bytes(pickle.dumps(part))
    (raw / "ind.cora.test.index").write_text("5\n4\n")
    space = run(CODE[:2], "files", tmp_path)
    assert torch.equal(space["x"], x / x.sum(1, keepdim=True)) and torch.equal(space["y"], classes)
    assert space["edge_index"].tolist() == [[0, 1, 3, 4], [1, 0, 4, 3]]
    assert space["train"].tolist() == [0, 1] and space["test"].tolist() == [5, 4]
