#!/usr/bin/env python3
"""Checks what libsptile.so, libsptile-cuda.so and libsptile-tools.so export, need and weigh.

    library_test.py LIBSPTILE.so LIBSPTILE-TOOLS.so [--cuda ARCHITECTURES LIBSPTILE-CUDA.so] CPU_KERNEL_LIBRARY.a...

libsptile exports sptile_* symbols, and those that libsptile-cuda needs and no others. Both need nothing beyond the C,
C++, GCC and OpenMP libraries; libsptile-cuda also needs libsptile and the dynamic loader. Stripped, libsptile is less
than 2.4375 MiB (23 operations, products of few columns in every type for three instruction sets, and constants of
GPUs and CPUs), libsptile-cuda less than 8.375 MiB for each architecture (tiles of 8 and of 16 rows, alone and in one
launch with rows, in every type, the operations of graph layers, also of GATv2 and with edge features, and an
ordering). The objects compiled for one instruction set define no inline function that other objects could share: the
linker would keep any one of the copies, and it might be one that this machine cannot run.
"""
import os
import re
import subprocess
import sys
import tempfile

ALLOWED = re.compile(r"lib(c|m|stdc\+\+|gcc_s|gomp)\.so\.\d+")
# The loader is for the thread-local variables of the static CUDA runtime.
ALLOWED_CUDA = re.compile(rf"{ALLOWED.pattern}|libsptile\.so\.0|ld-linux[-\w]*\.so\.\d+")
LIMIT = 39 << 16
CUDA_LIMIT = 67 << 17  # for each architecture
SHARED_VERSION = "@@SPTILE_CUDA_"  # of the symbols that libsptile shares with libsptile-cuda


def output(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def symbols(library, which):
    """Returns the names of the dynamic symbols with their versions, without the names of the versions themselves."""
    lines = [line.split() for line in output("nm", "-D", which, library).splitlines()]
    return [words[-1] for words in lines if words[-2] != "A"]


def check_exports(library, prefix="sptile_", shared=frozenset()):
    names = symbols(library, "--defined-only")
    foreign = [name for name in names if not name.startswith(prefix) and name not in shared]
    assert names and not foreign, f"exports {foreign}"


def needed_by(cuda_library):
    """Returns what libsptile-cuda takes from libsptile, as libsptile exports it."""
    needed = {name.replace("@", "@@") for name in symbols(cuda_library, "--undefined-only") if "@SPTILE" in name}
    assert needed and all(SHARED_VERSION in name for name in needed), needed
    return needed


def check_needed(library, allowed=ALLOWED):
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", library))
    foreign = [name for name in needed if not allowed.fullmatch(name)]
    assert needed and not foreign, f"needs {foreign}"


def check_name(library, name):
    soname = re.findall(r"\(SONAME\).*\[(.*)\]", output("readelf", "-d", library))
    assert soname == [name], f"is called {soname}"


def check_size(library, limit):
    with tempfile.TemporaryDirectory() as folder:
        stripped = os.path.join(folder, "stripped.so")
        subprocess.run(["strip", "-o", stripped, library], check=True)
        size = os.path.getsize(stripped)
    print(f"stripped: {size} bytes")
    assert size <= limit, f"{size} bytes stripped, the limit is {limit}"


def check_kernels(archive):
    isa = re.fullmatch(r"libsptile_cpu_(\w+)\.a", os.path.basename(archive)).group(1)
    own = f"sptile7runtime{len(isa)}{isa}"
    weak = [line.split()[-1] for line in output("nm", "--defined-only", archive).splitlines()
            if len(line.split()) == 3 and line.split()[1] in "WVu"]
    shared = [name for name in weak if own not in name and not name.startswith("DW.ref.")]
    assert weak and not shared, f"{archive} defines {shared}"


def main():
    library, tools, *archives = sys.argv[1:]
    shared = frozenset()
    if archives[0] == "--cuda":
        _, architectures, cuda_library, *archives = archives
        shared = needed_by(cuda_library)
        check_exports(cuda_library)
        check_needed(cuda_library, ALLOWED_CUDA)
        check_name(cuda_library, "libsptile-cuda.so.0")
        check_size(cuda_library, CUDA_LIMIT * int(architectures))
        unused = {name for name in symbols(library, "--defined-only") if SHARED_VERSION in name} - shared
        assert not unused, f"exports for libsptile-cuda, which does not need them: {unused}"
    check_exports(library, shared=shared)
    check_needed(library)
    check_name(library, "libsptile.so.0")
    check_size(library, LIMIT)
    check_exports(tools, "sptile_tools_")
    check_name(tools, "libsptile-tools.so.0")
    for archive in archives:
        check_kernels(archive)


if __name__ == "__main__":
    main()
