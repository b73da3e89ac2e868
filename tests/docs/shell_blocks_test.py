#!/usr/bin/env python3
"""Runs every ```sh block of the README and of docs/, so that what the docs say works.

The blocks of one page run in order, in one fresh folder that looks like the project's root: build, data and docs are
links. Those of the README must work a second time there, too. Blocks that install or run the whole test suite (the two commands of the README) are not run from within it.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

NOT_FROM_HERE = ("tools/quickstart.sh", "tools/run-tests.sh", "meson setup")


def blocks(page):
    return re.findall(r"^```sh\n(.*?)^```", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def run_page(page, root, build, times):
    """Runs all blocks `times` times. Returns their number, or raises CalledProcessError."""
    scripts = [b for b in blocks(page) if not any(word in b for word in NOT_FROM_HERE)]
    if not scripts:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "build").symlink_to(build)
        for name in ("data", "docs", "tests", "tools"):
            (work / name).symlink_to(root / name)
        script = "set -euo pipefail\n" + "\n".join(scripts * times)
        subprocess.run(["bash", "-c", script], cwd=work, check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return len(scripts)


def main():
    root, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    failed = 0
    for page in pages:
        name = page.relative_to(root)
        try:
            count = run_page(page, root, build, 2 if page.name == "README.md" and page.parent == root else 1)
            if count:
                print(f"ok      {name}: {count} blocks")
        except subprocess.CalledProcessError as error:
            failed += 1
            print(f"FAILED  {name} (exit {error.returncode})\n{error.stdout}")
    assert any(blocks(page) for page in pages), "no page has a shell block: wrong root?"
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    os.environ["LC_ALL"] = "C.UTF-8"
    main()
