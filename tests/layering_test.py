#!/usr/bin/env python3
"""Checks that dependencies run one way: tools -> reorder -> formats, tools -> runtime -> formats/layout.

    layering_test.py PROJECT_ROOT

Reads the #include lines of every source. The runtime may use the definitions and checks of layouts and the vocabulary
headers, no conversions, no readers or writers, none of the offline packages.
"""
import pathlib
import re
import sys

VOCABULARY = ("array_view", "csr_view", "dtype", "error", "half", "no_value_type", "parameters", "progress")
OFFLINE = re.compile(r"(H5|hdf5|tbb/|oneapi/|metis|boost/|fmt/|nlohmann/|CLI/|openssl/|zlib|lzma|zstd)")

# folder -> what its files may include of the project, what they may not include from outside
RULES = {
    "formats/layout": (rf"formats/layout/.*|formats/({'|'.join(VOCABULARY)})\.hpp", OFFLINE),
    "formats": (r"formats/.*", re.compile(r"$^")),
    "reorder": (r"(formats|reorder)/.*", re.compile(r"$^")),
    "runtime": (rf"runtime/.*|sptile\.h|formats/layout/.*|formats/({'|'.join(VOCABULARY)})\.hpp", OFFLINE),
}


def includes(path):
    """Yields line number, delimiter and name of each include."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if match := re.match(r'\s*#\s*include\s*([<"])([^>"]+)', line):
            yield number, match[1], match[2]


def violations(root, folder):
    allowed, forbidden = RULES[folder]
    files = [path for pattern in ("*.h", "*.hpp", "*.cpp", "*.cu", "*.cuh") for path in (root / folder).rglob(pattern)]
    if not files:
        yield f"{folder}: no sources found"
    for path in sorted(files):
        for number, delimiter, name in includes(path):
            own = delimiter == '"'
            if (own and not re.fullmatch(allowed, name)) or (not own and forbidden.match(name)):
                yield f"{path.relative_to(root)}:{number}: {folder}/ must not include {name}"


def main():
    root = pathlib.Path(sys.argv[1])
    found = [line for folder in RULES for line in violations(root, folder)]
    print("\n".join(found) or "all arrows point the right way")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
