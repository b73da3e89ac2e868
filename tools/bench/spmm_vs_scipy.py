#!/usr/bin/env python3
"""Times sptile's csr kernel against SciPy's csr @ dense in one process, in turns.

    tools/bench/spmm_vs_scipy.py --library build/runtime/libsptile.so.0 matrix.mtx ...

Matrices are Matrix Market files, optionally .gz, .bz2 or .xz. Results are compared first; then both are run
alternately and the medians are printed as one JSON object per matrix. Needs NumPy and SciPy. SciPy uses one thread.
"""
import argparse
import bz2
import ctypes
import gzip
import json
import lzma
import statistics
import sys
import time

import numpy as np
import scipy
import scipy.io
import scipy.sparse


class Options(ctypes.Structure):
    """sptile_spmm_options of sptile.h."""
    _fields_ = [("size", ctypes.c_size_t), ("n", ctypes.c_int64), ("dense", ctypes.c_int32),
                ("device", ctypes.c_int32), ("threads", ctypes.c_int32), ("trusted", ctypes.c_int32),
                ("refreshable", ctypes.c_int32), ("nonfinite", ctypes.c_int32), ("kernel", ctypes.c_char_p)]


SPTILE_F32 = 8


class Plan:
    """A plan for a SciPy CSR matrix of float32."""

    def __init__(self, library, matrix, n, threads):
        self.library = library
        self.n = n
        self.row_ptr = matrix.indptr.astype(np.int64)
        self.col_idx = np.ascontiguousarray(matrix.indices, dtype=np.int32)
        self.values = np.ascontiguousarray(matrix.data, dtype=np.float32)
        options = Options()
        self.call("sptile_spmm_options_init", ctypes.byref(options), ctypes.c_size_t(ctypes.sizeof(options)))
        options.n, options.threads = n, threads
        self.handle = ctypes.c_void_p()
        rows, cols = matrix.shape
        self.call("sptile_plan_spmm_csr", ctypes.c_int64(rows), ctypes.c_int64(cols), pointer(self.row_ptr),
                  pointer(self.col_idx), pointer(self.values), SPTILE_F32, ctypes.byref(options),
                  ctypes.byref(self.handle))

    def call(self, name, *arguments):
        if getattr(self.library, name)(*arguments) != 0:
            sys.exit(self.library.sptile_last_error().decode())

    def run(self, b, c):
        self.call("sptile_spmm", self.handle, ctypes.c_double(1), pointer(b), ctypes.c_int64(self.n),
                  ctypes.c_double(0), pointer(c), ctypes.c_int64(self.n))

    def kernel(self):
        name = ctypes.c_char_p()
        self.call("sptile_plan_kernel", self.handle, ctypes.byref(name))
        return name.value.decode()

    def close(self):
        self.library.sptile_plan_destroy(self.handle)


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def read(path):
    openers = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    for suffix, opener in openers.items():
        if path.endswith(suffix):
            with opener(path, "rb") as file:
                return scipy.io.mmread(file)
    return scipy.io.mmread(path)


def timed(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def compare(library, path, options):
    matrix = scipy.sparse.csr_matrix(read(path)).astype(np.float32)
    matrix.sort_indices()
    random = np.random.default_rng(options.seed)
    if options.random_values:
        matrix.data = random.uniform(-1, 1, matrix.nnz).astype(np.float32)
    b = random.uniform(-1, 1, (matrix.shape[1], options.n)).astype(np.float32)
    c = np.zeros((matrix.shape[0], options.n), dtype=np.float32)
    plan = Plan(library, matrix, options.n, options.threads)

    plan.run(b, c)
    scale = abs(matrix).astype(np.float64) @ abs(b).astype(np.float64) + np.finfo(np.float32).tiny
    error = float((abs(c - matrix.astype(np.float64) @ b.astype(np.float64)) / scale).max(initial=0))
    tolerance = 2 * 2.0**-24 * (int(np.diff(matrix.indptr).max(initial=0)) + 4)
    if not error <= tolerance:
        sys.exit(f"{path}: relative error {error:.3g} exceeds {tolerance:.3g}")

    ours, theirs = [], []
    for _ in range(options.repeat):
        theirs.append(timed(lambda: matrix @ b))
        ours.append(timed(lambda: plan.run(b, c)))
    result = {
        "matrix": path.rsplit("/", 1)[-1], "rows": matrix.shape[0], "cols": matrix.shape[1], "nnz": int(matrix.nnz),
        "n": options.n, "threads": options.threads, "kernel": plan.kernel(), "rel_err": error,
        "scipy": scipy.__version__, "sptile_us": statistics.median(ours) * 1e6,
        "scipy_us": statistics.median(theirs) * 1e6,
        "scipy_over_sptile": statistics.median(theirs) / statistics.median(ours),
    }
    plan.close()
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matrices", nargs="+")
    parser.add_argument("--library", required=True, help="path of libsptile.so")
    parser.add_argument("-n", type=int, default=128, help="columns of B (128)")
    parser.add_argument("--threads", type=int, default=2, help="threads for sptile (2)")
    parser.add_argument("--repeat", type=int, default=15, help="runs of each (15)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--random-values", action="store_true", help="replace the values of the matrix")
    options = parser.parse_args()
    library = ctypes.CDLL(options.library)
    library.sptile_last_error.restype = ctypes.c_char_p
    for path in options.matrices:
        print(json.dumps(compare(library, path, options)), flush=True)


if __name__ == "__main__":
    main()
