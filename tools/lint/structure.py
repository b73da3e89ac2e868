#!/usr/bin/env python3
"""Prints figures of the structure of the sources, to compare two commits.

    structure.py [--root DIR] [--headers]

Lines and files per top-level directory; includes between families of CUDA kernels; headers of at most 30 lines with one
includer (--headers lists them); and the limits on files edited per addition from tests/exercise.
"""
import argparse
import collections
import pathlib
import re
import sys

DIRECTORIES = ("formats", "reorder", "runtime", "tools", "tests")
CODE = (".h", ".hpp", ".cpp", ".cu", ".cuh", ".py", ".sh", ".build")
HEADERS = (".h", ".hpp", ".cuh")
SMALL_LINES = 30


def read_sources(root):
    """Text of every source in DIRECTORIES, by path from the root."""
    paths = (path for top in DIRECTORIES for path in (root / top).rglob("*") if path.is_file())
    return {str(path.relative_to(root)): path.read_text(errors="replace") for path in sorted(paths)
            if path.name.endswith(CODE)}


def includes(text):
    return re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE)


def small_headers(sources):
    """Headers of at most 30 lines that one file outside tests includes, with that file. Neither the source of the same
    name nor public headers count."""
    users = collections.defaultdict(set)
    for name, text in sources.items():
        if not name.startswith("tests/"):
            for header in includes(text):
                if header.rpartition(".")[0] != name.rpartition(".")[0]:
                    users[header].add(name)
    for name, text in sorted(sources.items()):
        public = name.startswith(("tests/", "runtime/include/"))
        if name.endswith(HEADERS) and not public and text.count("\n") <= SMALL_LINES and len(users[name]) == 1:
            yield name, *users[name]


def is_unit(header, sources):
    """Returns whether a header declares a unit: its source is longer than two small headers, or a test includes it."""
    source = sources.get(header.rpartition(".")[0] + ".cpp", "")
    return source.count("\n") > 2 * SMALL_LINES or any(header in includes(text) for name, text in sources.items()
                                                       if name.startswith("tests/"))


def family_of(name):
    match = re.match(r"runtime/cuda/(?:families/)?(attention|csr|sddmm|tall|tile|update|papers)/", name)
    return match and match[1]


def family_includes(sources):
    """Number of includes of each family of CUDA kernels by another."""
    pairs = collections.Counter((family_of(name), family_of(header)) for name, text in sources.items()
                                for header in includes(text) if family_of(name))
    return {pair: count for pair, count in sorted(pairs.items(), key=str) if pair[1] and pair[0] != pair[1]}


def limits(sources):
    """Files that an addition may edit, from the tables of tests/exercise."""
    for name, text in sources.items():
        if name.startswith("tests/exercise/") and name.endswith(".py"):
            if table := re.search(r"^LIMITS\s*=\s*({.*?})", text, re.MULTILINE | re.DOTALL):
                yield from re.findall(r'"(\w+)":\s*([^,}]+)', table[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parents[2])
    parser.add_argument("--headers", action="store_true", help="list small headers with their includer")
    arguments = parser.parse_args()
    sources = read_sources(arguments.root)
    lines, files = collections.Counter(), collections.Counter()
    for name, text in sources.items():
        for group in (name.split("/")[0], "total"):
            lines[group] += text.count("\n")
            files[group] += 1
    for group in sorted(lines, key=lambda name: (name == "total", name)):
        print(f"{group:10}{lines[group]:8} lines{files[group]:6} files")
    between = family_includes(sources)
    print(f"includes between families: {sum(between.values())}")
    print("".join(f"  {user} -> {used}: {count}\n" for (user, used), count in between.items()), end="")
    small = list(small_headers(sources))
    print(f"headers of at most {SMALL_LINES} lines with one includer: {len(small)}")
    if arguments.headers:
        print("".join(f"  {name} <- {user}\n" for name, user in small), end="")
    print("files edited per addition, at most:", ", ".join(f"{what} {most}" for what, most in limits(sources)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
