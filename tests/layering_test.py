#!/usr/bin/env python3
"""Checks that dependencies run one way: tools -> reorder -> formats, tools -> runtime -> formats/layout, and from room to
room inside the runtime; only the helper includes HDF5, only headers of formats/ the loops of oneTBB; and one place writes text.

    layering_test.py PROJECT_ROOT

Reads the #include lines of every source. libsptile-tools must not need the command, the Python package not its
frameworks. The runtime may use the definitions and checks of layouts and the vocabulary headers, no conversions, no
readers or writers, none of the offline packages. Each room of the runtime may use the rooms that its row names and
nothing else; rows stand in such an order that no row names a later one: there are no circles. The Python package has no
assert, and takes the address of an array only in the files of ADDRESSES.
"""
import ast
import pathlib
import re
import sys

VOCABULARY = (
    "array_view", "csr_view", "dtype", "error", "fork", "half", "no_value_type", "parameters", "printable", "progress",
)
OFFLINE = re.compile(r"(H5|hdf5|tbb/|oneapi/|metis|boost/|fmt/|nlohmann/|CLI/|openssl/|zlib|bzlib|lzma|zstd)")

# folder -> what its files may include of the project, what they may not include from outside
RULES = {
    "formats/layout": (rf"formats/layout/.*|formats/({'|'.join(VOCABULARY)})\.hpp", OFFLINE),
    "formats": (r"formats/.*", re.compile(r"$^")),
    "reorder": (r"(formats|reorder)/.*", re.compile(r"$^")),
    "tools/capi": (r"sptile\.h|(formats|runtime)/.*|"
                   r"tools/(capi/.*|conversion|input|names|order|order_quality|work)\.hpp|tools/capi/sptile_tools\.h",
                   re.compile(r"(nlohmann/|CLI/)")),
    "runtime": (rf"runtime/.*|sptile\.h|sptile\.hpp|sptile_dist/.*\.hpp|formats/layout/.*|formats/({'|'.join(VOCABULARY)})\.hpp", OFFLINE),
}

# room of the runtime -> rooms that its files may include. "." holds the vocabulary: options, operands, matrix, kernel;
# "cuda" that of devices, and the seam.
ROOMS = {
    "threads": "",
    ".": "threads",
    "reference": ".",
    "operation": ". reference",
    "bundle": ".",
    "cpu": ". operation",
    "cuda": ". operation",
    "cuda/device": ". threads cuda",
    "cuda/convert": ". cuda cuda/device",
    "cuda/check": ". cuda cuda/device cuda/convert",
    "cuda/csr": ". threads operation cuda cuda/device",
    "cuda/tile": ". threads operation cuda cuda/device cuda/csr",
    "cuda/tall": ". threads operation cuda cuda/device cuda/tile",
    "cuda/sddmm": ". threads operation cuda cuda/device cuda/csr cuda/tile",
    "cuda/attention": ". operation cuda cuda/device cuda/csr cuda/tile",
    "cuda/update": ". operation cuda cuda/device cuda/csr cuda/tile",
    "cuda/papers": ". operation cuda cuda/device cuda/csr cuda/tile",
    "cuda/families": ". cuda cuda/csr cuda/tile cuda/tall cuda/sddmm cuda/attention cuda/update cuda/papers",
    "kernels": ". threads operation cpu cuda cuda/families",
    "choice": ". operation kernels cuda",
    "plan": ". threads reference operation cpu cuda kernels choice",
    "handle": ". threads operation bundle cuda plan",
    "capi": ". operation bundle plan handle",
    "sptile_dist": ".",
}

# files of the Python package that may take the address of an array: views of any framework, operands of operators, and
# the arrays that a matrix of torch has made for itself
ADDRESSES = ("_arrays.py", "_calls.py", "torch/operands.py", "torch/handle.py")

SOURCES = (".h", ".hpp", ".cpp", ".cu", ".cuh")


def sources(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in SOURCES)


def includes(path):
    """Yields line number, delimiter and name of each include."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if match := re.match(r'\s*#\s*include\s*([<"])([^>"]+)', line):
            yield number, match[1], match[2]


def violations(root, folder):
    allowed, forbidden = RULES[folder]
    files = sources(root / folder)
    if not files:
        yield f"{folder}: no sources found"
    for path in files:
        for number, delimiter, name in includes(path):
            own = delimiter == '"'
            if (own and not re.fullmatch(allowed, name)) or (not own and forbidden.match(name)):
                yield f"{path.relative_to(root)}:{number}: {folder}/ must not include {name}"


def room_of(path):
    """The room of a path below runtime/: its folder, or two of them in cuda/."""
    folders = pathlib.PurePath(path).parts[:-1]
    return "/".join(folders[:2] if folders[:1] == ("cuda",) else folders[:1]) or "."


def room_violations(root):
    known = list(ROOMS)
    for room, uses in ROOMS.items():
        for used in uses.split():
            if known.index(used) >= known.index(room):
                yield f"ROOMS: {room} uses {used}, which does not stand before it"
    base = root / "runtime"
    for path in sources(base):
        room = room_of(path.relative_to(base))
        if room not in ROOMS:
            yield f"runtime/{room}: a room without a row in ROOMS"
            continue
        for number, delimiter, name in includes(path):
            used = room_of(name.removeprefix("runtime/")) if name.startswith("runtime/") else room
            if delimiter == '"' and used != room and used not in ROOMS[room].split():
                yield f"{path.relative_to(root)}:{number}: runtime/{room} must not include {name}"


EVERYWHERE = ("formats", "reorder", "runtime", "tools")
# outside header -> the sources of these folders that may include it
OWNERS = {re.compile(r"H5\w*\.h|hdf5\.h"): (r"formats/hdf5_helper/.*", EVERYWHERE),
          re.compile(r"(oneapi/)?tbb/parallel_\w+\.h"): (r"formats/parallel_\w+\.hpp|tools/bench/.*", EVERYWHERE),
          re.compile(r"(oneapi/)?tbb/(?!blocked_range)"): (r"formats/(parallel_\w+|per_thread)\.hpp", ("formats", "reorder"))}


def owner_violations(root):
    """Only the helper calls HDF5; loops that forked processes may run use the project's headers."""
    for folder in EVERYWHERE:
        for path in sources(root / folder):
            where = str(path.relative_to(root))
            for number, delimiter, name in includes(path):
                for outside, (owner, folders) in OWNERS.items():
                    if delimiter == "<" and folder in folders and outside.match(name) and not re.fullmatch(owner, where):
                        yield f"{where}:{number}: only {owner} may include {name}"


def python_violations(root):
    """The package without sptile.torch imports no framework but NumPy, and knows nothing of its own torch."""
    base = root / "runtime/python/sptile"
    for path in sorted(base.glob("*.py")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.match(r"(import|from) (torch|cupy|scipy|\.torch)\b", line):
                yield f"{path.relative_to(root)}:{number}: `import sptile` must not need this"


def assertions(root):
    """The package has no assert: `python -O` drops them, so that what they refuse would be accepted."""
    for path in sorted((root / "runtime/python").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Assert) or getattr(node, "id", "") == "__debug__":
                yield f"{path.relative_to(root)}:{node.lineno}: an assert; raise an error of sptile.errors"


def addresses(root):
    """Addresses of arrays are taken where the array has been checked, and nowhere else."""
    base = root / "runtime/python/sptile"
    for path in sorted(base.rglob("*.py")):
        if str(path.relative_to(base)) in ADDRESSES:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.search(r"\.data_ptr\(|\.ctypes\b|addressof\(", line):
                yield f"{path.relative_to(root)}:{number}: the address of an array; use _arrays.list_address or a View"


# Text of files is made fit to be shown where it is written: what writes stands in one place each.
WRITERS = (
    (re.compile(r"\b(f?puts|fwrite|v?f?printf|f?putc|putchar|perror)\(|std::(cout|cerr|clog)\b|fmt::print\b|"
                r"\bSTD(OUT|ERR)_FILENO\b"),
     {"tools/measure/csv_log.cpp", "tools/cli/output.cpp", "tools/cli/signals.cpp"}, "writes to stdout or stderr; use write_text of tools/cli/output.hpp"),
    (re.compile(r"\.dump\("), {"tools/cli/json_text.hpp"}, "makes text of JSON; use json_text of tools/cli/json_text.hpp"),
)


def writer_violations(root):
    for path in sources(root / "tools"):
        name = str(path.relative_to(root))
        if name.startswith("tools/bench/"):  # programs of their own
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for pattern, allowed, what in WRITERS:
                if name not in allowed and pattern.search(line.split("//")[0]):
                    yield f"{name}:{number}: {what}"


def main():
    root = pathlib.Path(sys.argv[1])
    found = [line for folder in RULES for line in violations(root, folder)]
    found += [*room_violations(root), *owner_violations(root), *python_violations(root), *assertions(root)]
    found += [*addresses(root), *writer_violations(root)]
    print("\n".join(found) or "all arrows point the right way")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
