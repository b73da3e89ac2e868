#!/usr/bin/env python3
"""Checks that each directory includes only the directories that its row of DIRECTORIES names, and none in a circle.

    layering_test.py PROJECT_ROOT

Reads the #include lines of every source. Rows are ordered: no row names a later one. The runtime includes the
definitions and checks of layouts and the vocabulary headers of formats/core, but no conversions, readers, writers or
offline packages. Only the helper program includes HDF5, only headers of formats/core the loops of oneTBB, and text is
written in one place. The modules of the Python package import each other in the order of PYTHON_LAYERS. It has no assert,
and takes the address of an array only in the files of ADDRESSES. Small headers with one includer are units with a source
or a test of their own, or have a reason in SMALL.
"""
import ast
import pathlib
import re
import sys

# headers of formats/core that the runtime and the layouts may include
VOCABULARY = {f"formats/core/{name}.hpp" for name in (
    "array_view", "community_rules", "compact_rule", "csr_view", "dtype", "error", "file_descriptor", "fork", "half", "nearest_name", "no_value_type", "packing_rules", "parameters", "printable", "progress",
)}
OFFLINE = re.compile(r"(H5|hdf5|tbb/|oneapi/|metis|boost/|fmt/|nlohmann/|CLI/|openssl/|zlib|bzlib|lzma|zstd)")

IO = "formats/core formats/io formats/io/files"
FAMILY = ("formats/core formats/layout runtime/threads runtime/core runtime/operation runtime/cuda runtime/cuda/device "
          "runtime/cuda/collective")
TOOL = "formats/* runtime/* tools/pipeline tools/cli"

# directory -> directories that its files may include; "formats/*" stands for all directories of formats
DIRECTORIES = {
    "formats/core": "",
    "formats/layout": "formats/core",
    "formats/convert": "formats/core formats/layout",
    "formats/io": "formats/core",
    "formats/io/files": "formats/core",
    "formats/io/stream": "formats/core formats/io/files",
    "formats/io/entries": IO,
    "formats/io/text": f"{IO} formats/io/stream formats/io/entries",
    "formats/io/matrix_market": f"{IO} formats/io/stream formats/io/entries formats/io/text",
    "formats/io/graph": f"{IO} formats/io/stream formats/io/entries formats/io/text",
    "formats/io/npz": f"{IO} formats/io/entries formats/io/text",
    "formats/io/binary": f"{IO} formats/layout formats/io/stream formats/io/entries formats/io/text",
    "formats/io/hdf5": f"{IO} formats/layout formats/convert formats/io/entries formats/io/text",
    "formats/hdf5_helper": "formats/core formats/layout formats/io/files formats/io/text formats/io/hdf5",
    "reorder/core": "formats/core",
    "reorder/graph": "formats/core",
    "reorder/similarity": "formats/core reorder/graph",
    "reorder/quality": "formats/core",
    "reorder/packing": "formats/core reorder/similarity",
    "reorder/methods": "formats/core reorder/core reorder/graph reorder/packing reorder/quality reorder/similarity",
    "reorder": "formats/core reorder/core reorder/methods",
    "reorder/partition": "formats/core formats/io/files reorder/core reorder/graph reorder/packing reorder/methods",
    "runtime/include": "",
    "runtime/threads": "formats/core",
    "runtime/core": "formats/core formats/layout runtime/threads",
    "runtime/reference": "formats/core runtime/core",
    "runtime/operation": "formats/core runtime/core runtime/reference",
    "runtime/bundle": "formats/core formats/layout runtime/core",
    "runtime/cpu": "formats/core formats/layout runtime/core runtime/operation",
    "runtime/cuda": "formats/core formats/layout runtime/core runtime/operation",
    "runtime/cuda/device": "formats/core formats/layout runtime/threads runtime/core runtime/cuda",
    "runtime/cuda/collective": "formats/core formats/layout runtime/threads runtime/core runtime/cuda runtime/cuda/device",
    "runtime/cuda/convert": "formats/core formats/layout runtime/core runtime/cuda runtime/cuda/device",
    "runtime/cuda/reorder": "formats/core runtime/cuda runtime/cuda/device runtime/cuda/convert",
    "runtime/cuda/exchange": "formats/core runtime/cuda runtime/cuda/device",
    "runtime/cuda/check": "formats/layout runtime/cuda runtime/cuda/convert",
    "runtime/cuda/families/csr": FAMILY,
    "runtime/cuda/families/tall": FAMILY,
    "runtime/cuda/families/attention": FAMILY,
    "runtime/cuda/families/tile": FAMILY,
    "runtime/cuda/families/reduce": FAMILY,
    "runtime/cuda/families/sddmm": FAMILY,
    "runtime/cuda/families/update": FAMILY,
    "runtime/cuda/papers": "runtime/core runtime/operation runtime/cuda",
    # Kernels of papers that are tile kernels with another schedule, store or decoder.
    "runtime/cuda/papers/acc": f"{FAMILY} runtime/cuda/families/sddmm runtime/cuda/families/tile runtime/cuda/papers",
    "runtime/cuda/papers/bulk": f"{FAMILY} runtime/cuda/families/tile runtime/cuda/papers",
    "runtime/cuda/papers/hygnn": f"{FAMILY} runtime/cuda/families/update runtime/cuda/papers",
    "runtime/cuda/papers/libra_streams": f"{FAMILY} runtime/cuda/families/tile runtime/cuda/families/sddmm "
                                          "runtime/cuda/convert runtime/cuda/papers",
    "runtime/cuda/papers/rsh": f"{FAMILY} runtime/cuda/families/tile runtime/cuda/papers",
    "runtime/cuda/families": "runtime/core runtime/cuda runtime/cuda/families/* runtime/cuda/papers/*",
    "runtime/kernels": "formats/core runtime/threads runtime/core runtime/operation runtime/cpu runtime/cuda runtime/cuda/families",
    "runtime/choice": "formats/core formats/layout runtime/core runtime/operation runtime/kernels runtime/cuda",
    "runtime/plan": "formats/core formats/layout runtime/threads runtime/core runtime/reference runtime/operation runtime/cpu "
                    "runtime/cuda runtime/kernels runtime/choice",
    "runtime/handle": "formats/layout runtime/threads runtime/core runtime/bundle runtime/cuda runtime/plan",
    "runtime/capi": "formats/core formats/layout runtime/include runtime/core runtime/operation runtime/bundle runtime/plan "
                    "runtime/cuda runtime/kernels runtime/handle",
    # conversion without a command line: what the command and libsptile-tools share
    "tools/pipeline": "formats/* reorder reorder/core reorder/quality runtime/*",
    # the command line, which multiplies nothing
    "tools/cli": "formats/core formats/io/files reorder reorder/core tools/pipeline",
    "tools/cli/completions": "tools/cli",
    "tools/bundle": "formats/* runtime/*",
    "tools/partition": "formats/* reorder/partition runtime/* tools/bundle tools/pipeline",
    "tools/capi": "formats/* runtime/* tools/pipeline",
    "tools/gen": "formats/*",
    "tools/gen/replicas": "formats/* tools/gen",
    "tools/plot": "formats/core",
    "tools/spy": "formats/core tools/plot",
    "tools/measure": f"{TOOL} reorder/quality tools/plot",
    "tools/cuda": f"{TOOL} tools/measure",
    "tools/calibrate": f"{TOOL} tools/gen tools/measure tools/cuda",
    "tools/stats": TOOL,
    "tools/suite": f"{TOOL} reorder/quality tools/measure tools/cuda tools/stats",
    "tools/doctor": f"{TOOL} tools/measure",
    "tools/report": f"{TOOL} reorder/quality tools/measure tools/cuda tools/stats tools/plot tools/spy",
    "tools/commands": f"{TOOL} reorder reorder/core reorder/partition tools/*",
    "tools": "formats/core formats/io/files runtime/threads tools/cli",
    # compiled by scripts
    "tools/bench": "",
}
# directories below these are part of them
WITH_SUBDIRECTORIES = ("tools/bench", "runtime/include")

# Modules of the Python package, bottom up: no module imports one of a later line, in functions neither.
PYTHON_LAYERS = """
errors
_struct _memory
_core
_core_tools _library
_operations _tools _arrays
_calls _order _options
_places _matrix
_sampling
_sorted_plan
_given
_plan
bundle
_linear batch conversion part _config _csr_array
products
linalg._dense
linalg._golub_kahan linalg._products
linalg
sptile __main__
torch.sorting
torch.pattern
torch.handle
torch.operands
torch.operators
torch.attention torch.dropout torch.sources torch.arithmetic
torch.matrix
torch.edges torch.sampling
torch.reductions
torch.functions torch.gatv2
torch.pieces torch.sparse torch.edge_attention torch.gatv2_edges
torch.nn.linear torch.nn.graph torch.nn.fused
torch.nn.edge_features torch.nn.order torch.exported
torch.nn.agnn_conv torch.nn.appnp torch.nn.cheb_conv torch.nn.cluster_gcn_conv torch.nn.gat_conv torch.nn.gatv2_conv torch.nn.gcn_conv torch.nn.gin_conv torch.nn.gine_conv torch.nn.graph_conv torch.nn.hetero_conv torch.nn.lg_conv torch.nn.pna_conv torch.nn.rgcn_conv torch.nn.sage_conv torch.nn.sg_conv torch.nn.sparse_linear torch.nn.tag_conv torch.nn.transformer_conv torch.pyg torch.compiled
torch.nn.arma_conv torch.nn.light_gcn
torch.nn
torch.accelerate.matrices torch.accelerate.state
torch.accelerate.graphs torch.accelerate.originals torch.accelerate.products torch.accelerate.sparse_tensors
torch.accelerate.rows
torch.accelerate.layers torch.accelerate.twins
torch.accelerate.scope
torch.accelerate
torch
torch.distributed.ranks
torch.distributed.boundary torch.distributed.notices torch.distributed.own_part torch.distributed.row_blocks torch.distributed.whole torch.distributed.wires
torch.distributed.peers
torch.distributed.exchange torch.distributed.step
torch.distributed.products
torch.distributed.bound torch.distributed.crossing
torch.distributed.matrix
torch.distributed.functions
torch.distributed.nn
torch.distributed
"""

# files of the Python package that may take the address of an array: views of any framework, operands of operators, and
# the arrays that a matrix of torch, or a product with other devices, has made for itself; accelerate/graphs compares them
ADDRESSES = ("_arrays.py", "_calls.py", "torch/operands.py", "torch/sorting.py", "torch/handle.py", "torch/accelerate/graphs.py", "torch/distributed/peers.py", "torch/distributed/step.py")

# headers of at most 30 lines with one includer, without a long source or a test of their own, and why they are separate
SMALL = {
    "formats/convert/csr.hpp": "one converter per format",
    "formats/io/hdf5/helper_path.hpp": "compiled with the directories of the installation",
    "formats/io/stream/spool.hpp": "reads a pipe for formats/io, called by tools",
    "runtime/cpu/csr_product.hpp": "one product per format, compiled per instruction set",
    "runtime/cpu/hc_window_decoder.hpp": "one decoder per format",
    "runtime/cuda/check/permutation.hpp": "one check per header",
    "runtime/cuda/convert/primitives.hpp": "interface of CUB, compiled alone",
    "runtime/cuda/convert/tall_place.hpp": "places of groups in a window, for kernels",
    "runtime/threads/futex.hpp": "system calls",
    "tools/cuda/core_kernels.hpp": "kernels, compiled by nvcc",
    "tools/pipeline/device_conversion.hpp": "conversions on a device, like the table of orderings on devices",
}

SOURCES = (".h", ".hpp", ".cpp", ".cu", ".cuh")


def sources(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in SOURCES)


def includes(path):
    """Yields line number, delimiter and name of each include."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if match := re.match(r'\s*#\s*include\s*([<"])([^>"]+)', line):
            yield number, match[1], match[2]


def directory_of(path):
    """The row of a file: its directory; the root of the repository for public headers, which are included by name alone."""
    name = str(pathlib.PurePath(path).parent)
    return next((whole for whole in WITH_SUBDIRECTORIES if name.startswith(whole + "/")), name)


def allowed_directories(directory):
    """The directories that a row names, with those that a pattern matches."""
    for name in DIRECTORIES[directory].split():
        if name.endswith("*"):
            yield from (other for other in DIRECTORIES if other.startswith(name[:-1]) and other != directory)
        else:
            yield name


def included_path(name):
    """Path of an included header from the root; public headers are included without their directory."""
    public = name.startswith("sptile") and not name.startswith("sptile_tools")
    return f"runtime/include/{name}" if public else name


def is_lean(directory):
    return directory == "formats/layout" or directory.startswith("runtime/") and not directory.startswith("runtime/include")


def outside_rule(directory):
    """Headers of other packages that a directory must not include."""
    if is_lean(directory):
        return OFFLINE
    return re.compile(r"(nlohmann/|CLI/)") if directory == "tools/capi" else re.compile(r"$^")


def order_violations():
    known = list(DIRECTORIES)
    for directory in known:
        for used in DIRECTORIES[directory].split():
            if not used.endswith("*") and (used not in known or known.index(used) >= known.index(directory)):
                yield f"DIRECTORIES: {directory} names {used}, which is not an earlier row"


def directory_violations(root):
    for top in EVERYWHERE:
        for path in sources(root / top):
            where = path.relative_to(root)
            directory = directory_of(where)
            if directory not in DIRECTORIES:
                yield f"{directory}: a directory without a row in DIRECTORIES"
                continue
            allowed = {directory, *allowed_directories(directory)}
            for number, delimiter, name in includes(path):
                if delimiter == "<":
                    if outside_rule(directory).match(name):
                        yield f"{where}:{number}: {directory} must not include {name}"
                    continue
                used = included_path(name)
                lean = is_lean(directory) and used.startswith("formats/core/") and used not in VOCABULARY
                if (directory_of(used) not in allowed and (root / used).exists()) or lean:
                    yield f"{where}:{number}: {directory} must not include {name}"


EVERYWHERE = ("formats", "reorder", "runtime", "tools")
# outside header -> the sources of these folders that may include it
OWNERS = {re.compile(r"H5\w*\.h|hdf5\.h"): (r"formats/hdf5_helper/.*", EVERYWHERE),
          re.compile(r"(oneapi/)?tbb/parallel_\w+\.h"): (r"formats/core/parallel_\w+\.hpp", EVERYWHERE),
          re.compile(r"(oneapi/)?tbb/(?!blocked_range)"): (r"formats/core/(parallel_\w+|per_thread)\.hpp", ("formats", "reorder"))}


def owner_violations(root):
    """Only the helper calls HDF5; loops that forked processes may run use the project's headers."""
    for folder in EVERYWHERE:
        for path in sources(root / folder):
            where = str(path.relative_to(root))
            for number, delimiter, name in includes(path):
                for outside, (owner, folders) in OWNERS.items():
                    if delimiter == "<" and folder in folders and outside.match(name) and not re.fullmatch(owner, where):
                        yield f"{where}:{number}: only {owner} may include {name}"


# Modules that define subclasses of SciPy's: `sptile.__getattr__` imports them at first use.
LAZY = ("_csr_array.py",)


def python_violations(root):
    """The package without sptile.torch imports no framework but NumPy, and knows nothing of its own torch."""
    base = root / "runtime/python/sptile"
    for path in sorted(base.glob("*.py")):
        if path.name in LAZY:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.match(r"(import|from) (torch|cupy|scipy|\.torch)\b", line):
                yield f"{path.relative_to(root)}:{number}: `import sptile` must not need this"


def python_imports(package, path):
    """Yields line number and target of each import of the package in a file, deferred ones and those for types too."""
    parts = path.relative_to(package.parent).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom) or node.level == 0:
            continue
        folder = package.parent.joinpath(*parts[: len(parts) - node.level])
        base = folder.joinpath(*(node.module or "").split("."))
        names = [alias.name for alias in node.names] if base.is_dir() else [""]
        for name in names:
            inner = base / name
            yield node.lineno, inner if name and (inner.is_dir() or inner.with_suffix(".py").exists()) else base


def layer_violations(root):
    """The modules of the package import each other along PYTHON_LAYERS, so that no imports form a cycle."""
    package = root / "runtime/python/sptile"

    def name_of(path):
        inner = path.relative_to(package).with_suffix("").as_posix().replace("/", ".").removesuffix("__init__").rstrip(".")
        return inner or "sptile"

    layers = [line.split() for line in PYTHON_LAYERS.strip().splitlines()]
    layer_of = {name: number for number, line in enumerate(layers) for name in line}
    for path in sorted(package.rglob("*.py")):
        name, where = name_of(path), path.relative_to(root)
        if name not in layer_of:
            yield f"{where}: a module without a line in PYTHON_LAYERS"
            continue
        for number, target in python_imports(package, path):
            used = name_of(target)
            if used != name and layer_of.get(used, len(layers)) >= layer_of[name]:
                yield f"{where}:{number}: {name} must not import {used}, which PYTHON_LAYERS does not name before it"


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
    (re.compile(r"\.dump\("), {"tools/pipeline/json_text.hpp"}, "makes text of JSON; use json_text of tools/pipeline/json_text.hpp"),
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


def layout_violations(root):
    """Host and device code place members behind a structure with [[no_unique_address]] differently (nvcc 13)."""
    for path in sources(root / "runtime/cuda"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if "no_unique_address" in line.split("//")[0]:
                yield f"{path.relative_to(root)}:{number}: [[no_unique_address]], which nvcc lays out in its own way"


def small_headers(root):
    """Violations of SMALL."""
    sys.path.insert(0, str(root / "tools/lint"))
    import structure

    found = structure.read_sources(root)
    separate = {name: user for name, user in structure.small_headers(found) if not structure.is_unit(name, found)}
    for name in separate.keys() - SMALL.keys():
        yield f"{name}: only {separate[name]} includes it; merge it there, or give a reason in SMALL"
    for name in SMALL.keys() - separate.keys():
        yield f"SMALL: {name} is not a small header with one includer; remove it"


def main():
    root = pathlib.Path(sys.argv[1])
    found = [*order_violations(), *directory_violations(root)]
    found += [*owner_violations(root), *python_violations(root), *layer_violations(root), *assertions(root)]
    found += [*addresses(root), *writer_violations(root), *layout_violations(root), *small_headers(root)]
    print("\n".join(found) or "all arrows point the right way")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
