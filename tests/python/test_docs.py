"""The Python blocks of docs/guide, docs/reference and the README work: those of a page run in order, in one fresh
folder."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, missing_cuda

PAGES = [*sorted(page for folder in ("guide", "reference") for page in (ROOT / "docs" / folder).glob("*.md")), ROOT / "README.md"]
BLOCK = re.compile(r"^```python(?: (\w+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)


def has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def missing(need: str) -> str:
    """Why blocks that are marked so cannot run here; "" where they can."""
    if need == "gpu":
        return missing_cuda() or ("" if has("torch") else "torch is not installed")
    return "" if has("torch_geometric") else "PyG is not installed"


def blocks(page: Path) -> list[tuple[str, str]]:
    """What each block needs beside NumPy and SciPy ("": nothing), and its text, moved to its lines of the
    page."""
    text = page.read_text()
    return [(m[1] or "", "\n" * text.count("\n", 0, m.start(2)) + m[2]) for m in BLOCK.finditer(text)]


def cases() -> list[tuple[Path, str]]:
    """A page for each thing that its blocks need."""
    return [(page, need) for page in PAGES for need in sorted({need for need, _ in blocks(page)})]


@pytest.mark.parametrize(
    "page, need", cases(), ids=lambda part: part.name if isinstance(part, Path) else part or "cpu"
)
def test_blocks_work(page: Path, need: str, tmp_path: Path) -> None:
    if need and (why := missing(need)):
        pytest.skip(f"{page.name}: blocks marked {need} did not run: {why}")
    chosen = [text for mark, text in blocks(page) if mark in ("", need)]
    if any("torch" in text for text in chosen) and not has("torch"):
        pytest.skip(f"{page.name}: blocks did not run: torch is not installed")
    (tmp_path / "data").symlink_to(ROOT / "data")
    script = tmp_path / "page.py"
    # Each block is compiled with its own line numbers, so that a failure names the line of the page.
    script.write_text(
        f"blocks = {chosen!r}\nspace = {{'__name__': '__main__'}}\n"
        f"for block in blocks:\n    exec(compile(block, {str(page)!r}, 'exec'), space)\n"
    )
    done = subprocess.run(
        [sys.executable, script.name], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_pages_have_blocks() -> None:
    assert sum(len(blocks(page)) for page in PAGES) >= 20
    marks = {need for page in PAGES for need, _ in blocks(page)}
    assert marks == {"", "gpu", "pyg"}
