#!/usr/bin/env python3
"""Checks what libsptile.so exports, needs and weighs, and what libsptile-tools.so exports and is called.

    library_test.py [--cuda ARCHITECTURES] LIBSPTILE.so LIBSPTILE-TOOLS.so CPU_KERNEL_LIBRARY.a...

Only sptile_* symbols are exported; nothing beyond the C, C++, GCC and OpenMP libraries is needed, with CUDA also the
dynamic loader; stripped it is less than 1.5 MiB (nine operations, for three instruction sets, and constants of two GPUs), with CUDA kernels for one architecture 7.125 MiB (tiles of 8 and of 16
rows, alone and in one launch with rows, in every type, and the operations of graph layers), for all that sptile
supports 39 MiB. The objects compiled for one instruction set define no inline function that other objects could share:
the linker would keep any one of the copies, and it might be one that this machine cannot run.
"""
import os
import re
import subprocess
import sys
import tempfile

ALLOWED = re.compile(r"lib(c|m|stdc\+\+|gcc_s|gomp)\.so\.\d+")
LOADER = re.compile(r"ld-linux[-\w]*\.so\.\d+")  # for the thread-local variables of the static CUDA runtime
CPU_LIMIT, CUDA_LIMIT = 3 << 19, 57 << 17  # without kernels for CUDA; with them, for each architecture


def output(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def check_exports(library, prefix="sptile_"):
    names = [line.split()[-1] for line in output("nm", "-D", "--defined-only", library).splitlines()]
    foreign = [name for name in names if not name.startswith(prefix)]
    assert names and not foreign, f"exports {foreign}"


def check_needed(library, with_cuda):
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", library))
    foreign = [name for name in needed if not ALLOWED.fullmatch(name) and not (with_cuda and LOADER.fullmatch(name))]
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
    arguments = sys.argv[1:]
    with_cuda = arguments[0] == "--cuda"
    architectures = int(arguments[1]) if with_cuda else 0
    library, tools, *archives = arguments[2 if with_cuda else 0:]
    check_exports(library)
    check_needed(library, with_cuda)
    check_name(library, "libsptile.so.0")
    check_exports(tools, "sptile_tools_")
    check_name(tools, "libsptile-tools.so.0")
    check_size(library, CUDA_LIMIT * architectures if with_cuda else CPU_LIMIT)
    for archive in archives:
        check_kernels(archive)


if __name__ == "__main__":
    main()
