#!/usr/bin/env python3
"""Products over NCCL, in two processes with a device each: right, measured, and ended where a process dies. Where there
are fewer devices the program says so, and the test is skipped.

    product_nccl_test.py PROGRAM SPTILE
"""
import json
import pathlib
import subprocess
import sys
import tempfile

from partitions import ENVIRONMENT, Partitions

PROGRAM, SPTILE = sys.argv[1:]
LIMIT = 120  # seconds
if not PROGRAM:
    print("SKIP: this build has no CUDA, or NCCL or cuSPARSE is not there: no product over devices is tested", file=sys.stderr)
    sys.exit(77)


def run(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], env=ENVIRONMENT, capture_output=True, text=True, timeout=LIMIT)
    if done.returncode == 77:
        print(done.stderr, end="", file=sys.stderr)
        sys.exit(77)
    assert done.returncode == 0, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def main(folder):
    files = Partitions(SPTILE, folder)
    files.make("random", "random", "--rows", "3000", "--cols", "3000", "--nnz", "40000", parts=2)
    parts = folder / "random-metis"
    measured = json.loads(run(parts, folder / "random.h5", "n=32").stdout)
    sent = [one["sent"] for one in json.loads((parts / "partition.json").read_text())["parts"]]
    assert measured["bytes_sent"] == sum(sent) * 32 * 4, (measured, sent)
    print(measured)
    died = run(parts, folder / "random.h5", "dies")
    assert "rank 0: " in died.stderr, died.stderr
    print("ended: a process that dies")


with tempfile.TemporaryDirectory(prefix="sptile-test-") as temporary:
    main(pathlib.Path(temporary))
