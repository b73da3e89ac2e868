#!/usr/bin/env python3
"""Products with operands in device memory: in four threads on one device; by each exchange in two processes with a
device each, with times, and with a process that exits. The test is skipped if there are fewer devices, or if they cannot
map each other's memory.

    product_devices_test.py PRODUCT_CUDA PRODUCT_NCCL SPTILE
"""
import json
import pathlib
import sys
import tempfile

from partitions import Partitions, finished

PRODUCT_CUDA, PRODUCT_NCCL, SPTILE = sys.argv[1:]
LIMIT = 120  # seconds
if not PRODUCT_CUDA or not PRODUCT_NCCL:
    print("SKIP: this build has no CUDA, or NCCL or cuSPARSE is not there: no product over devices is tested", file=sys.stderr)
    sys.exit(77)


def run(*command):
    done = finished(command, LIMIT)
    if done.returncode == 77:
        print(done.stderr, end="", file=sys.stderr)
        sys.exit(77)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def main(folder):
    files = Partitions(SPTILE, folder)
    files.make("random", "random", "--rows", "3000", "--cols", "3000", "--nnz", "40000", parts=4, wide=True)
    files.make("pattern", "planted", "--rows", "3000", "--edges", "20000", "--mix", "0.1", "--field", "pattern")
    for name in ("random", "pattern"):
        run(PRODUCT_CUDA, folder / f"{name}-metis", folder / f"{name}.h5")
        print("right on one device:", name)

    files.make("pair", "random", "--rows", "3000", "--cols", "3000", "--nnz", "40000", parts=2)
    files.make("grid", "grid2d", "--side", "100", methods=("rows",), parts=2)  # symmetric
    files.make("groups", "planted", "--rows", "3000", "--edges", "20000", "--mix", "0.1", "--field", "pattern", parts=2)
    for wire in ("nccl", "nccl:4", "auto", "peers"):
        for name, method, n in (("pair", "metis", 32), ("grid", "rows", 1), ("groups", "metis", 5)):
            parts = folder / f"{name}-{method}"
            measured = json.loads(run(PRODUCT_NCCL, parts, folder / f"{name}.h5", f"n={n}", f"wire={wire}").stdout)
            sent = [one["sent"] for one in json.loads((parts / "partition.json").read_text())["parts"]]
            assert measured["bytes_sent"] == sum(sent) * n * 4, (measured, sent)
            assert measured["sampled"] == measured["rows"], measured  # few nonzeros: all rows are compared
            assert measured["wire"] == wire or wire == "auto", measured
            print(f"right by {wire}:", name, measured)
        died = run(PRODUCT_NCCL, folder / "pair-metis", folder / "pair.h5", "dies", f"wire={wire}")
        assert "rank 0: " in died.stderr, died.stderr
        print(f"ended by {wire}: a process that dies")


with tempfile.TemporaryDirectory(prefix="sptile-test-") as temporary:
    main(pathlib.Path(temporary))
