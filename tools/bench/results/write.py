#!/usr/bin/env python3
"""Writes the tables, headlines and charts of the results pages from the CSV files next to them.

  tools/bench/results/write.py [--check] [FOLDER]        FOLDER [default: docs/results]

A page contains a table between "<!-- begin NAME -->" and "<!-- end NAME -->". With --check, the script writes nothing
and exits with 1 if a page or a chart differs from what its CSV files give.
"""

import argparse
import re
import sys
from pathlib import Path

import cpu
import gpu
import papers
import topics
import two_gpus
from rows import Results

MODULES = (gpu, cpu, topics, papers, two_gpus)
# A public function of a module that is not a chart makes the block of its name.
BLOCKS = {
    name.replace("_", "-"): make
    for module in MODULES
    for name, make in vars(module).items()
    if not name.startswith("_")
    and getattr(make, "__module__", None) == module.__name__
    and make not in module.CHARTS.values()
}
CHARTS = gpu.CHARTS | cpu.CHARTS | topics.CHARTS | papers.CHARTS | two_gpus.CHARTS
BLOCK = re.compile(r"<!-- begin ([\w-]+) -->\n.*?<!-- end \1 -->", re.DOTALL)
ROOT = Path(__file__).resolve().parents[3]


def fill(page, results, used):
    """Returns the text of a page with each block replaced; adds the names of the blocks to `used`."""

    def block(match):
        name = match.group(1)
        if name not in BLOCKS:
            raise SystemExit(f"{page}: unknown block {name!r}; write.py has {', '.join(sorted(BLOCKS))}")
        used.add(name)
        return f"<!-- begin {name} -->\n{BLOCKS[name](results)}\n<!-- end {name} -->"

    return BLOCK.sub(block, page.read_text(encoding="utf-8"))


def made_files(folder):
    """Returns what each page and each chart of a folder should contain."""
    if not folder.is_dir():
        raise SystemExit(f"{folder}: not a directory; name the folder of the results pages")
    results, used = Results(folder), set()
    made = {page: fill(page, results, used) for page in sorted(folder.glob("*.md"))}
    unused = sorted(set(BLOCKS) - used)
    if unused:
        raise SystemExit(
            f"{folder}: no page has {', '.join(unused)}; add the block to a page or remove it from write.py"
        )
    made |= {folder / name: chart(results) for name, chart in CHARTS.items()}
    return made


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description="Write the tables and charts of the results pages from their CSV files."
    )
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=ROOT / "docs/results",
        help="folder with pages and CSV files [default: docs/results]",
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file is out of date")
    options = parser.parse_args(arguments)
    made = made_files(options.folder)
    stale = [file for file, text in made.items() if not file.exists() or file.read_text(encoding="utf-8") != text]
    for file in stale:
        print(
            f"{file}: differs from its CSV files; run tools/bench/results/write.py"
            if options.check
            else f"{file}: written"
        )
        if not options.check:
            file.write_text(made[file], encoding="utf-8")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
