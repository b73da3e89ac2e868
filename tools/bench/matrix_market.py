#!/usr/bin/env python3
"""Times sptile's Matrix Market reader and writer against the PyPI package fast-matrix-market, in turns, in one run.

    tools/bench/matrix_market.py --sptile build/tools/sptile FILE.mtx ...

Per file and thread count, each of --rounds rounds times both; medians and ratios are printed as one JSON object per
line. `read` compares text -> CSR (sptile.read) with text -> COO (read_coo) and with text -> CSR (read_coo and SciPy's
tocsr) of the package; `write` compares `sptile export` of a bundle, including the start of the process, with writing the
same matrix to --scratch (a tmpfs, so that neither waits for a disk); `convert` compares `sptile convert --format all`,
fsync included, with read_coo. Requires fast-matrix-market and SciPy.
"""
import argparse
import json
import os
import statistics
import subprocess
import time

import fast_matrix_market as fmm
import scipy.sparse

import sptile


def timed(call):
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def read(path, threads):
    """Returns the seconds of the second read: the first warms up."""
    return [timed(lambda: sptile.read(path, dtype="f32", threads=threads))[0] for _ in range(2)][-1]


def run(arguments, verb, source, target, threads):
    command = [arguments.sptile, verb, source, target, "--force", "--quiet", "--threads", str(threads)]
    return timed(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))[0]


def to_csr(coo):
    (values, (rows, cols)), shape = coo
    return scipy.sparse.coo_matrix((values, (rows, cols)), shape=shape).tocsr()


def compare(arguments, path, threads):
    """Returns the medians over all rounds."""
    seconds = {name: [] for name in ("read", "fmm_coo", "fmm_csr", "write", "fmm_write", "convert")}
    out, bundle = os.path.join(arguments.scratch, "bench.mtx"), os.path.join(arguments.folder, "bench.h5")
    for _ in range(arguments.rounds):
        seconds["read"].append(read(path, threads))
        seconds["convert"].append(run(arguments, "convert", path, bundle, threads))
        took, coo = timed(lambda: fmm.read_coo(path, parallelism=threads))
        seconds["fmm_coo"].append(took)
        took, csr = timed(lambda: to_csr(coo))
        seconds["fmm_csr"].append(seconds["fmm_coo"][-1] + took)
        seconds["write"].append(run(arguments, "export", bundle, out, threads))
        matrix = csr.astype("float32").tocoo()
        field = "pattern" if fmm.read_header(path).field == "pattern" else "real"
        seconds["fmm_write"].append(timed(lambda: fmm.mmwrite(out, matrix, field=field, parallelism=threads))[0])
        del coo, csr, matrix
    os.unlink(out)
    return {name: statistics.median(values) for name, values in seconds.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sptile", required=True, help="build/tools/sptile")
    parser.add_argument("--threads", default="1,2", help="thread counts, separated by commas [default: 1,2]")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scratch", default="/dev/shm", help="tmpfs directory for text output")
    parser.add_argument("--folder", default=".", help="directory on disk for the bundle")
    parser.add_argument("file", nargs="+")
    arguments = parser.parse_args()
    for path in arguments.file:
        for threads in map(int, arguments.threads.split(",")):
            s = compare(arguments, path, threads)
            print(json.dumps({
                "file": os.path.basename(path), "threads": threads, "seconds": {k: round(v, 4) for k, v in s.items()},
                "read_vs_coo": round(s["fmm_coo"] / s["read"], 2), "read_vs_csr": round(s["fmm_csr"] / s["read"], 2),
                "write": round(s["fmm_write"] / s["write"], 2),
                "convert_over_fmm_read": round(s["convert"] / s["fmm_coo"], 2)}), flush=True)


if __name__ == "__main__":
    main()
