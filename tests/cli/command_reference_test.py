#!/usr/bin/env python3
"""Checks that docs/reference/commands.md is what tools/manual/make_pages.py generates from the command.

    command_reference_test.py SPTILE PROJECT_ROOT
"""
import pathlib
import subprocess
import sys
import tempfile


def main():
    sptile, root = sys.argv[1], pathlib.Path(sys.argv[2])
    generator = root / "tools/manual/make_pages.py"
    page = root / "docs/reference/commands.md"
    with tempfile.TemporaryDirectory() as folder:
        generated = pathlib.Path(folder) / "commands.md"
        subprocess.run([sys.executable, generator, "markdown", sptile, generated], check=True)
        text = generated.read_text()
    if not page.exists() or page.read_text() != text:
        sys.exit(f"{page} is out of date; run: {generator} markdown {sptile} {page}")
    too_long = [number for number, line in enumerate(text.splitlines(), 1) if len(line) > 120]
    if too_long:
        sys.exit(f"{page}: lines {too_long} are longer than 120 characters")


if __name__ == "__main__":
    main()
