#!/usr/bin/env python3
"""Products with operands in device memory, between four emulated devices: what is exchanged when, over NCCL and over
an exchange of host memory, is right in many orders, for every kind of partition.

    product_emulated_test.py PROGRAM SPTILE
"""
import pathlib
import sys
import tempfile

from partitions import Partitions, finished

PROGRAM, SPTILE = sys.argv[1:]
LIMIT = 120  # seconds


def right(*arguments):
    done = finished([PROGRAM, *arguments], LIMIT)
    assert done.returncode == 0, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    print(f"right: {' '.join(str(one) for one in arguments)}\n{done.stdout}", end="")


def run(folder):
    files = Partitions(SPTILE, folder)
    files.make("grid", "grid2d", "--side", "12")
    files.make("random", "random", "--rows", "300", "--cols", "300", "--nnz", "2000", methods=("rows",), wide=True)
    files.make("few", "grid2d", "--side", "1", methods=("rows",))  # parts without rows
    files.make("apart", "random", "--rows", "40", "--cols", "40", "--nnz", "0", methods=("rows",))  # no boundary rows
    files.make("dense", "random", "--rows", "40", "--cols", "40", "--nnz", "1600", methods=("rows",))  # only these
    files.make("pattern", "planted", "--rows", "200", "--edges", "600", "--mix", "0.1", "--field", "pattern")
    right(folder / "grid-metis", folder / "grid.h5")
    right(folder / "random-rows", folder / "random.h5", "failures")
    right(folder / "few-rows", folder / "few.h5")
    right(folder / "apart-rows", folder / "apart.h5")
    right(folder / "dense-rows", folder / "dense.h5")
    right(folder / "pattern-metis", folder / "pattern.h5")


with tempfile.TemporaryDirectory(prefix="sptile-test-") as temporary:
    run(pathlib.Path(temporary))
