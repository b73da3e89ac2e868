#!/usr/bin/env python3
"""Compares the exported functions and the structs of the C interface with those that are written down.

    abi_test.py ABI.txt LIBSPTILE.so ABI_LAYOUT HEADER [--update]

ABI_LAYOUT, which runtime/python/declare.py generates, prints the structs. Every function of HEADER must be exported. With
--update, ABI.txt is written.
"""
import difflib
import pathlib
import re
import subprocess
import sys

MAX_FUNCTIONS = 26


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
    assert len(functions) <= MAX_FUNCTIONS, f"{len(functions)} functions, at most {MAX_FUNCTIONS}"
    before = pathlib.Path(written_down).read_text()
    difference = "\n".join(difflib.unified_diff(before.splitlines(), text.splitlines(), "written down", "now", lineterm=""))
    assert before == text, "the interface has changed; within a version, only additions:\n" + difference
    print(f"{len(functions)} functions")


if __name__ == "__main__":
    main()
