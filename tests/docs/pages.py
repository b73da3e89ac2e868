"""Reads the documentation: its pages, their fenced blocks, and the output that a page prints after a block."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

# A block with one of these words after its language is not run on every machine.
CONDITIONS = {
    "install": "installs software or builds a package",
    "gpu": "needs a CUDA device",
    "mpi": "needs MPI or several processes",
    "slow": "takes minutes",
    "network": "downloads files",
    "pyg": "needs PyG",
    "torch_sparse": "needs torch_sparse",
    "example": "reads files of the user",
}

_FENCE = re.compile(r"^```(\w+)(?: ([^\n]*))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Differs between runs and machines: times, rates, spreads, threads, sizes, and the vector extension of a kernel.
_VARIABLE = (
    (re.compile(r"\b\d+(\.\d+)?(e[+-]?\d+)? ?(ns|us|ms|s)(?!\w)"), "# time"),
    (re.compile(r"\b\d+(\.\d+)? ?(GFLOP/s|%)"), r"# \2"),
    (re.compile(r"\b\d+ threads?\b"), "# threads"),
    (re.compile(r"\b\d+(\.\d+)? (B|KiB|MiB)\b"), "# bytes"),
    (re.compile(r"\b(cpu\.[\w.]*)\.(generic|avx2|avx512|neon|sve)\b"), r"\1.*"),
    (re.compile(r"\b\d\.\de-\d\d\b"), "#"),
    (re.compile(r" +"), " "),
)


class Block(NamedTuple):
    """One fenced block. `line` is the line of its first character; `output` is None where the page prints none."""

    language: str
    marks: tuple[str, ...]
    text: str
    line: int
    output: str | None


def pages(root: Path) -> list[Path]:
    """Returns the README and all pages of docs/."""
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def blocks(page: Path) -> list[Block]:
    """Returns the blocks of a page. A block ```text output belongs to the block before it."""
    text = page.read_text()
    found: list[Block] = []
    for match in _FENCE.finditer(text):
        language, marks, body = match[1], tuple((match[2] or "").split()), match[3]
        if (language, marks) == ("text", ("output",)):
            found[-1] = found[-1]._replace(output=body)
        else:
            found.append(Block(language, marks, body, text.count("\n", 0, match.start(3)) + 1, None))
    return found


def condition(block: Block) -> str:
    """Returns the first mark of a block that is a condition; "" if the block runs everywhere."""
    return next((mark for mark in block.marks if mark in CONDITIONS), "")


def comparable(output: str) -> str:
    """Replaces the parts of an output that differ between runs and machines."""
    for pattern, replacement in _VARIABLE:
        output = pattern.sub(replacement, output)
    return "\n".join(line.rstrip() for line in output.strip().splitlines())
