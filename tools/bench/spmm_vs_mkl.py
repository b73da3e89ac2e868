#!/usr/bin/env python3
"""Times sptile's formats on the CPU against oneMKL's inspector-executor SpMM in one process, in turns.

    tools/bench/spmm_vs_mkl.py --library build/runtime/libsptile.so.0 --csv mkl.csv matrix.mtx ...

Matrices are Matrix Market files, optionally .gz, .bz2 or .xz, with random values. Both libraries multiply the same B, each
into a separate C; results are compared first. Needs NumPy, SciPy and oneMKL (`pip install mkl`). oneMKL receives hints for
the layout, N and the number of calls, and optimizes before it is timed. The output has one line per matrix, N, type and
number of threads: the first quartile of the times, since other work on the machine only adds time, and the ratio of
oneMKL's time to that of sptile's fastest format.
"""
import argparse
import csv
import ctypes
import pathlib
import statistics
import sys
import time

import numpy as np
import scipy.sparse

from spmm_vs_scipy import Plan, pointer, read, timed

COLUMNS = ["matrix", "rows", "entries", "n", "type", "threads", "mkl_us", "ours_us", "format", "mkl_over_ours"]
ROW_MAJOR, GENERAL, NON_TRANSPOSE, ZERO_BASED = 101, 20, 10, 0


class Description(ctypes.Structure):
    """struct matrix_descr of mkl_spblas.h."""

    _fields_ = [("type", ctypes.c_int), ("mode", ctypes.c_int), ("diag", ctypes.c_int)]


class Mkl:
    """A matrix as oneMKL has it, with 32-bit indices."""

    def __init__(self, library, matrix, n, calls):
        self.library = library
        self.kind = "s" if matrix.dtype == np.float32 else "d"
        self.real = ctypes.c_float if self.kind == "s" else ctypes.c_double
        self.indptr, self.indices = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
        self.data = matrix.data
        self.handle, self.n, self.description = ctypes.c_void_p(), n, Description(GENERAL, 0, 0)
        rows, cols = matrix.shape
        self.call("create_csr", ctypes.byref(self.handle), ZERO_BASED, rows, cols, pointer(self.indptr), pointer(self.indptr[1:]),
                  pointer(self.indices), pointer(self.data))
        self.call("set_mm_hint", self.handle, NON_TRANSPOSE, self.description, ROW_MAJOR, n, calls, kind="")
        self.call("optimize", self.handle, kind="")

    def call(self, name, *arguments, kind=None):
        prefix = "mkl_sparse_" + (self.kind + "_" if kind is None else kind)
        status = getattr(self.library, prefix + name)(*arguments)
        if status != 0:
            sys.exit(f"{prefix}{name} failed with status {status}")

    def run(self, b, c):
        self.call("mm", NON_TRANSPOSE, self.real(1), self.handle, self.description, ROW_MAJOR, pointer(b), self.n, self.n,
                  self.real(0), pointer(c), self.n)

    def close(self):
        self.call("destroy", self.handle, kind="")


def find_mkl(path):
    if path:
        return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    for folder in (pathlib.Path(sys.prefix) / "lib", pathlib.Path("/usr/lib/x86_64-linux-gnu")):
        for file in sorted(folder.glob("libmkl_rt.so*")):
            return ctypes.CDLL(str(file), mode=ctypes.RTLD_GLOBAL)
    sys.exit("libmkl_rt.so was not found; pip install mkl, or pass its path with --mkl")


def compare(options, libraries, matrix, n, threads):
    """Lower quartiles of oneMKL and of each format, in microseconds, run in turns."""
    ours, mkl = libraries
    mkl.MKL_Set_Num_Threads(threads)
    random = np.random.default_rng(options.seed)
    b = random.uniform(-1, 1, (matrix.shape[1], n)).astype(matrix.dtype)
    runs = {"mkl": Mkl(mkl, matrix, n, options.repeat)}
    for name in options.formats.split(","):
        runs[name] = Plan(ours, matrix, n, threads, name)
    times = {name: [] for name in runs}
    results = {name: np.zeros((matrix.shape[0], n), dtype=matrix.dtype) for name in runs}
    for name, run in runs.items():
        run.run(b, results[name])
        error = abs(results[name] - results["mkl"]).max(initial=0) / max(abs(results["mkl"]).max(initial=0), 1e-30)
        if not error <= 1e-4:
            sys.exit(f"{name} differs from oneMKL by {error:.3g}")
    end = time.perf_counter() + options.seconds
    while len(times["mkl"]) < options.repeat or time.perf_counter() < end:
        for name, run in runs.items():
            times[name].append(timed(lambda: run.run(b, results[name])))
    for run in runs.values():
        run.close()
    return {name: 1e6 * statistics.quantiles(list_, n=4)[0] for name, list_ in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matrices", nargs="+")
    parser.add_argument("--library", required=True, help="path of libsptile.so")
    parser.add_argument("--mkl", help="path of libmkl_rt.so (default: that of this Python)")
    parser.add_argument("-n", default="32,128", help="numbers of columns of B, separated by commas (32,128)")
    parser.add_argument("--types", default="f32,f64")
    parser.add_argument("--threads", default="1,2", help="numbers of threads, separated by commas (1,2)")
    parser.add_argument("--formats", default="csr", help="formats of sptile, separated by commas (csr)")
    parser.add_argument("--repeat", type=int, default=15, help="minimum number of runs of each case (15)")
    parser.add_argument("--seconds", type=float, default=0.5, help="minimum measuring time per case (0.5)")
    parser.add_argument("--csv", help="file to write")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    ours, mkl = ctypes.CDLL(options.library), find_mkl(options.mkl)
    ours.sptile_last_error.restype = ctypes.c_char_p
    lines = []
    for path in options.matrices:
        pattern = scipy.sparse.csr_matrix(read(path))
        pattern.sort_indices()
        for kind in options.types.split(","):
            matrix = pattern.astype({"f32": np.float32, "f64": np.float64}[kind])
            matrix.data = np.random.default_rng(options.seed).uniform(-1, 1, matrix.nnz).astype(matrix.dtype)
            for n in map(int, options.n.split(",")):
                for threads in map(int, options.threads.split(",")):
                    us = compare(options, (ours, mkl), matrix, n, threads)
                    best = min((name for name in us if name != "mkl"), key=us.get)
                    line = [pathlib.Path(path).name.split(".")[0], matrix.shape[0], matrix.nnz, n, kind, threads,
                            f"{us['mkl']:.4g}", f"{us[best]:.4g}", best, f"{us['mkl'] / us[best]:.3f}"]
                    print(*line, flush=True)
                    lines.append(line)
    ratios = [float(line[-1]) for line in lines]
    print(f"geometric mean {statistics.geometric_mean(ratios):.3f}, minimum {min(ratios):.3f}, {len(ratios)} cases")
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *lines])


if __name__ == "__main__":
    main()
