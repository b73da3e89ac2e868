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


def structure(name, **fields):
    """A struct of sptile.h, which begins with its size and is 0 else."""
    kind = type(name, (ctypes.Structure,), {"_fields_": [("size", ctypes.c_size_t), *fields.items()]})
    return lambda **values: kind(size=ctypes.sizeof(kind), **values)


i32, i64, pointer_to = ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p
Arrays = structure("sptile_arrays", rows=i64, cols=i64, nnz=i64, row=pointer_to, col=pointer_to, values=pointer_to,
                   value_dtype=i32, layout=i32, row_dtype=i32, col_dtype=i32, disorder=i32, device=i32, ordinal=i32,
                   reserved=i32)
Options = structure("sptile_plan_options", n=i64, format=ctypes.c_char_p, kernel=ctypes.c_char_p, dense=i32, device=i32,
                    ordinal=i32, threads=i32, nonfinite=i32, precision=i32, choice=i32, transpose=i32, result=i32, order=i32,
                    replan=i32, reserved=i32, stream=pointer_to, m=i64, heads=i32, activation=i32, score=i32,
                    transposed_weights=i32)
Info = structure("sptile_plan_info", operation=ctypes.c_char_p, format=ctypes.c_char_p, kernel=ctypes.c_char_p, rows=i64,
                 cols=i64, entries=i64, n=i64, least_n=i64, workspace_bytes=ctypes.c_uint64, dense=i32, result=i32,
                 precision=i32, device=i32, ordinal=i32, order=i32, stored=i32, reserved=i32)


class Operand(ctypes.Structure):
    _fields_ = [("data", pointer_to), ("ld", i64), ("batch", i64)]


Operands = structure("sptile_operands", alpha=ctypes.c_double, beta=ctypes.c_double, scaled=i32, reserved=i32, n=i64,
                     dense=Operand * 10, slope=ctypes.c_double, values=pointer_to, values_batch=i64)
DTYPES = {np.dtype(np.float32): 8, np.dtype(np.float64): 9}  # sptile_dtype


class Plan:
    """A plan for a SciPy CSR matrix of float32 or float64, on the CPU."""

    def __init__(self, library, matrix, n, threads, layout="csr"):
        self.library = library
        self.n = n
        self.row_ptr = matrix.indptr.astype(np.int64)
        self.col_idx = np.ascontiguousarray(matrix.indices, dtype=np.int32)
        self.values = np.ascontiguousarray(matrix.data)
        dtype = DTYPES[self.values.dtype]
        rows, cols = matrix.shape
        arrays = Arrays(rows=rows, cols=cols, nnz=len(self.values), row=pointer(self.row_ptr), col=pointer(self.col_idx),
                        values=pointer(self.values), value_dtype=dtype)
        options = Options(n=n, threads=threads, dense=dtype, format=layout.encode())
        self.matrix, self.handle = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("sptile_matrix_create", ctypes.byref(arrays), None, None, ctypes.byref(self.matrix))
        self.call("sptile_plan_create", self.matrix, b"spmm", ctypes.byref(options), ctypes.byref(self.handle))

    def call(self, name, *arguments):
        if getattr(self.library, name)(*arguments) != 0:
            sys.exit(self.library.sptile_last_error().decode())

    def run(self, b, c):
        dense = (Operand * 10)(Operand(pointer(b), self.n), Operand(pointer(c), self.n))
        operands = Operands(alpha=1, dense=dense)
        self.call("sptile_run", self.handle, ctypes.byref(operands), None, None)

    def kernel(self):
        info = Info()
        self.call("sptile_plan_describe", self.handle, ctypes.byref(info))
        return info.kernel.decode()

    def close(self):
        self.library.sptile_plan_destroy(self.handle)
        self.library.sptile_matrix_destroy(self.matrix)


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
    parser.add_argument("--repeat", type=int, default=15, help="number of runs of each (15)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--random-values", action="store_true", help="replace the values of the matrix")
    options = parser.parse_args()
    library = ctypes.CDLL(options.library)
    library.sptile_last_error.restype = ctypes.c_char_p
    for path in options.matrices:
        print(json.dumps(compare(library, path, options)), flush=True)


if __name__ == "__main__":
    main()
