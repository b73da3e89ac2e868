#!/usr/bin/env python3
"""Compares the exported functions and the structs of the C interface with those that are written down.

    abi_test.py ABI.txt LIBSPTILE.so ABI_LAYOUT HEADER [--update]

ABI_LAYOUT prints the structs. Every function and every field of HEADER must be there. With --update, ABI.txt is written.
"""
import difflib
import pathlib
import re
import subprocess
import sys

MOST_FUNCTIONS = 25


def output(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def main():
    written_down, library, layout, header = sys.argv[1:5]
    symbols = output("nm", "-D", "--defined-only", library).splitlines()
    names = [line.split()[-1].split("@@")[0] for line in symbols if line.split()[1] == "T"]
    functions = sorted(name for name in names if name.startswith("sptile_"))  # others: see library_test.py
    structs = output(layout)
    text = "\n".join(functions) + "\n\n" + structs
    if sys.argv[5:] == ["--update"]:
        pathlib.Path(written_down).write_text(text)
    source = re.sub(r"/\*.*?\*/", "", pathlib.Path(header).read_text(), flags=re.DOTALL)
    declared = sorted(set(re.findall(r"\b(sptile_\w+)\(", source)))
    assert declared == functions, f"declared {declared}, exported {functions}"
    assert len(functions) <= MOST_FUNCTIONS, f"{len(functions)} functions, at most {MOST_FUNCTIONS}"
    fields = [re.search(r"(\w+)(?:\[\w+\])?$", part)[1]
              for body in re.findall(r"typedef struct \w+ \{(.*?)\} \w+;", source, flags=re.DOTALL)
              for line in body.split(";") if line.strip() for part in line.split(",")]
    printed = [line.split()[0] for line in structs.splitlines() if line.startswith("  ")]
    assert fields == printed, f"abi_layout.c does not list {set(fields) ^ set(printed)} as {header} does"
    before = pathlib.Path(written_down).read_text()
    difference = "\n".join(difflib.unified_diff(before.splitlines(), text.splitlines(), "written down", "now", lineterm=""))
    assert before == text, "the interface has changed; within a version, only additions:\n" + difference
    print(f"{len(functions)} functions, {len(fields)} fields")


if __name__ == "__main__":
    main()
