#!/usr/bin/env python3
"""Checks the command reference and the help of each verb against the declarations of the command.

    command_reference_test.py SPTILE PROJECT_ROOT

docs/reference/commands.md must be what tools/manual/make_pages.py generates. Help must list the declared verbs and
option texts in at most 80 columns, with an example.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "COLUMNS": "80"}).stdout


def reference_errors(sptile, root):
    generator = root / "tools/manual/make_pages.py"
    page = root / "docs/reference/commands.md"
    with tempfile.TemporaryDirectory() as folder:
        generated = pathlib.Path(folder) / "commands.md"
        output(sys.executable, generator, "markdown", sptile, generated)
        text = generated.read_text()
    if not page.exists() or page.read_text() != text:
        yield f"{page} is out of date; run: {generator} markdown {sptile} {page}"
    too_long = [number for number, line in enumerate(text.splitlines(), 1) if len(line) > 120]
    if too_long:
        yield f"{page}: lines {too_long} are longer than 120 characters"


def help_errors(sptile, node, words=()):
    """Compares the help of a node of the command tree with its declaration, then that of the nodes below it."""
    shown = output(sptile, *words, "--help")
    name = " ".join(("sptile", *words))
    if shown != output(sptile, *words, "-h"):
        yield f"{name}: -h and --help differ"
    if any(len(line) > 80 for line in shown.splitlines()):
        yield f"{name}: help has more than 80 columns"
    if len(words) == 1 and f"\n  {name}" not in shown:
        yield f"{name}: help has no example"
    flat = " ".join(shown.split())
    texts = [option["help"] for option in node["options"] if not (option["common"] and len(words) != 1)]
    for text in texts + [below["name"] for below in node["below"]]:
        if text not in flat:
            yield f"{name}: help lacks {text!r}"
    for below in node["below"]:
        yield from help_errors(sptile, below, (*words, below["name"]))


def main():
    sptile, root = sys.argv[1], pathlib.Path(sys.argv[2])
    tree = json.loads(output(sptile, "completions", "bash", "--json"))["command"]
    errors = [*reference_errors(sptile, root), *help_errors(sptile, tree)]
    sys.exit("\n".join(errors) if errors else 0)


if __name__ == "__main__":
    main()
