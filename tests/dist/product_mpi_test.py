#!/usr/bin/env python3
"""Products over four processes of MPI: right for every kind of partition, and refused by all processes where one of them
has something wrong. Nothing may hang: every run has a time limit.

    product_mpi_test.py PROGRAM SPTILE MPIRUN
"""
import json
import os
import pathlib
import shutil
import sys
import tempfile

from partitions import Partitions, finished

PROGRAM, SPTILE, MPIRUN = sys.argv[1:]
if not PROGRAM:
    print("SKIP: MPI is not there (libopenmpi-dev, openmpi-bin), or this is a build with sanitizers, which its library "
          "does not pass: no product over processes is tested", file=sys.stderr)
    sys.exit(77)
LIMIT = 120  # seconds


def product(*arguments, processes=4):
    """What mpirun said."""
    return finished([MPIRUN, "--oversubscribe", "--bind-to", "none", "-n", processes, PROGRAM, *arguments], LIMIT)


def right(what, *arguments):
    done = product(*arguments)
    assert done.returncode == 0, f"{what}: {done.returncode}\n{done.stderr}"
    print("right:", what)


def files_of(folder):
    """Each file, its size, and when it was written."""
    return {file.name: (file.stat().st_size, file.stat().st_mtime_ns) for file in folder.iterdir()}


def refused(what, message, parts, *arguments, processes=4):
    """All processes must say why, and write nothing."""
    before = files_of(parts)
    done = product(parts, *arguments, processes=processes)
    assert files_of(parts) == before, f"{what}: something was written"
    assert done.returncode != 0, f"{what}: not refused"
    for rank in range(processes):
        said = [line for line in done.stderr.splitlines() if line.startswith(f"process {rank}: ")]
        assert said and message in said[0], f"{what}: process {rank} does not say '{message}':\n{done.stderr}"
    print("refused:", what)


def fell_back(what, *arguments):
    """Either is right; which one was faster is said."""
    done = product(*arguments, "n=5", "never_slower")
    assert done.returncode == 0, f"{what}: {done.returncode}\n{done.stderr}"
    said = "process 0 now has all rows" in done.stderr
    print("right, and", "whole:" if said else "divided:", what)


def ended(what, message, *arguments):
    """One process is lost, and the job ends."""
    done = product(*arguments)
    assert done.returncode != 0 and message in done.stderr, f"{what}: {done.returncode}\n{done.stderr}"
    print("ended:", what)


def damage(path, at):
    data = bytearray(path.read_bytes())
    data[at:at + 64] = bytes(x ^ 0xff for x in data[at:at + 64])
    path.write_bytes(data)


def run(folder):
    files = Partitions(SPTILE, folder)
    files.make("grid", "grid2d", "--side", "20", methods=("metis", "rows"))
    files.make("random", "random", "--rows", "500", "--cols", "500", "--nnz", "4000", methods=("metis", "rows"))
    files.make("few", "grid2d", "--side", "1", methods=("rows",))  # parts without rows
    files.make("apart", "random", "--rows", "40", "--cols", "40", "--nnz", "0", methods=("rows",))  # no boundary rows
    files.make("dense", "random", "--rows", "40", "--cols", "40", "--nnz", "1600", methods=("rows",))  # only these
    symmetric = {name: json.loads((folder / name / "partition.json").read_text())["symmetric"]
                 for name in ("random-rows", "grid-rows", "few-rows")}
    assert symmetric == {"random-rows": False, "grid-rows": True, "few-rows": True}, symmetric
    for name, method in (("grid", "metis"), ("grid", "rows"), ("random", "metis"), ("random", "rows"), ("few", "rows"),
                         ("apart", "rows"), ("dense", "rows")):
        for n in (1, 64):
            right(f"{name}, {method}, n = {n}", folder / f"{name}-{method}", folder / f"{name}.h5", f"n={n}")

    files.make("random64", "random", "--rows", "500", "--cols", "500", "--nnz", "4000", wide=True)
    right("random in f64", folder / "random64-metis", folder / "random64.h5", "n=7", "f64")

    good, whole, other = folder / "grid-metis", folder / "grid.h5", folder / "grid-rows"
    refused("another n in one process", "rank 1: n = 6, but 5 on rank 0", good, whole, "rank1=n")
    refused("a type that the values do not have, in one process", "rank 1: plan: a matrix of f32 values", good, whole,
            "rank1=type")
    files.make("pattern", "planted", "--rows", "300", "--edges", "900", "--mix", "0.1", "--field", "pattern")
    right("pattern", folder / "pattern-metis", folder / "pattern.h5", "n=3")
    refused("another type in one process", "rank 1: bytes of an element = 8, but 4 on rank 0",
            folder / "pattern-metis", folder / "pattern.h5", "rank1=type")
    refused("a part of another partition", "rank 1: its part belongs to a different partition", good, whole,
            f"rank1=folder:{other}")
    refused("fewer processes than parts", "4 parts, but there are 3 processes", good, whole, processes=3)
    refused("n = 0", "n = 0; expected at least 1", good, whole, "n=0")
    missing = shutil.copytree(good, folder / "missing")
    (missing / "part-0002.h5").unlink()
    refused("a missing part", "part-0002.h5", missing, whole)
    moved = shutil.copytree(good, folder / "moved")
    shutil.copy(good / "part-0001.h5", moved / "part-0002.h5")
    refused("a part at another place", "rank 2: its part declares itself part 1", moved, whole)
    cut = shutil.copytree(good, folder / "cut")
    os.truncate(cut / "part-0003.h5", (cut / "part-0003.h5").stat().st_size // 2)
    refused("a part that was cut", "part-0003.h5", cut, whole)
    damaged = shutil.copytree(good, folder / "damaged")
    damage(damaged / "part-0000.h5", 0)
    refused("a damaged part", "part-0000.h5", damaged, whole)
    for name in ("random64", "random", "pattern"):
        fell_back(name, folder / f"{name}-metis", folder / f"{name}.h5", *(["f64"] if name == "random64" else []))
    ended("a process that dies", "Exit code:    3", good, whole, "dies")
    ended("a process that hangs, which MPI tells", "no answer from other ranks within 2", good, whole, "hangs")
    ended("a process that hangs, which is thrown", ": rank 0 of 4: no answer from other ranks within 2", good, whole, "hangs",
          "returns")



with tempfile.TemporaryDirectory(prefix="sptile-test-") as temporary:
    run(pathlib.Path(temporary))
