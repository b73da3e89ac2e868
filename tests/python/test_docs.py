"""The Python blocks of the README and of docs/ work and print what their page says: those of a page run in order, in one
new folder."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, missing_cuda

sys.path.insert(0, str(ROOT / "tests" / "docs"))
import pages  # noqa: E402

MARK = "\x1e"  # separates the outputs of the blocks of a page


def has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def missing(need: str) -> str:
    """Why blocks with this condition cannot run here; "" if they can."""
    if need == "gpu":
        return missing_cuda() or ("" if has("torch") else "torch is not installed")
    if need == "pyg":
        return "" if has("torch_geometric") else "PyG is not installed"
    if need == "torch_sparse":
        return "" if has("torch_sparse") else "torch_sparse is not installed"
    return pages.CONDITIONS[need]


def blocks(page: Path) -> list[pages.Block]:
    return [block for block in pages.blocks(page) if block.language == "python"]


def cases() -> list[tuple[Path, str]]:
    """A page, once for each condition of its blocks."""
    return [
        (page, need)
        for page in pages.pages(ROOT)
        for need in sorted({pages.condition(block) for block in blocks(page)})
    ]


@pytest.mark.parametrize(
    "page, need", cases(), ids=lambda part: part.name if isinstance(part, Path) else part or "cpu"
)
def test_blocks_work(page: Path, need: str, tmp_path: Path) -> None:
    if need and (why := missing(need)):
        pytest.skip(f"{page.name}: blocks marked {need} did not run: {why}")
    chosen = [block for block in blocks(page) if pages.condition(block) in ("", need)]
    for module in ("torch", "h5py"):
        if any(module in block.text for block in chosen) and not has(module):
            pytest.skip(f"{page.name}: blocks did not run: {module} is not installed")
    (tmp_path / "data").symlink_to(ROOT / "data")
    script = tmp_path / "page.py"
    # Each block is compiled with its line numbers, so that a failure names the line of the page.
    texts = ["\n" * (block.line - 1) + block.text for block in chosen]
    script.write_text(
        f"blocks = {texts!r}\nspace = {{'__name__': '__main__'}}\n"
        f"for block in blocks:\n    exec(compile(block, {str(page)!r}, 'exec'), space)\n    print(end={MARK!r})\n"
    )
    done = subprocess.run(
        [sys.executable, script.name], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    for block, output in zip(chosen, done.stdout.split(MARK), strict=False):
        if block.output is not None:
            assert pages.comparable(output) == pages.comparable(block.output), f"{page}:{block.line}"


def test_pages_have_blocks() -> None:
    found = [block for page in pages.pages(ROOT) for block in blocks(page)]
    assert len(found) >= 30
    assert sum(block.output is not None for block in found) >= 5
    assert {pages.condition(block) for block in found} == {"", "gpu", "pyg", "torch_sparse", "mpi"}
