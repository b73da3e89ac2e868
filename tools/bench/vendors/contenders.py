"""The libraries that compute a product. Each class prepares C = A B once and runs it with prepared arguments.

A class has `load(setup)`, which finds the library or raises Missing, and `version`. An instance has `run()`, which runs
once, `seconds(count, warm)`, which times `count` runs, and `close()`.
"""

import ctypes
import os
import re
import sys
import time
from ctypes import c_int, c_int32, c_int64, c_void_p
from pathlib import Path

import numpy as np
import scipy
from scipy.sparse import _sparsetools

from .native import Missing, compiled


def _address(array):
    return array.ctypes.data


class _Native:
    """A product that a function of C++ computes, given its address and a structure."""

    def __init__(self, timer, run, product):
        self._timer, self._run, self._product = timer, run, product

    def seconds(self, count, warm):
        return self._timer.seconds(self._run, self._product, count, warm)

    def run(self):
        self.seconds(1, 0)

    def close(self):
        pass


class _SptileProduct(ctypes.Structure):
    _fields_ = [("run", c_void_p), ("plan", c_void_p), ("operands", c_void_p)]


class Sptile(_Native):
    """sptile_run with the operands of a plan, in one storage format."""

    title = "sptile"

    @classmethod
    def load(cls, setup):
        import sptile
        from sptile import _library

        cls.sptile, cls.library = sptile, _library
        cls.version = f"sptile {sptile.__version__}"

    def __init__(self, setup, case, layout):
        n = case.b.shape[1]
        dtype, source = case.a.dtype.name, case.a
        if layout != "csr":  # the stored format is first; auto chooses from all
            source = self.sptile.convert(case.a, formats="all" if layout == "auto" else layout, dtype=dtype)
        layout = layout.split(":")[0]  # without the parameter with which it was stored
        self._plan = self.sptile.plan(source, n, dtype=dtype, threads=case.threads, format=layout)
        self.kernel = self._plan.kernel
        self._operands = self.library.Operands()
        for operand, array in zip(self._operands.dense, (case.b, case.c)):
            operand.data, operand.ld = _address(array), n
        product = _SptileProduct(
            ctypes.cast(self.library.lib.sptile_run, c_void_p),
            self._plan._open_handle(),
            ctypes.cast(ctypes.byref(self._operands), c_void_p),
        )
        super().__init__(setup.timer, setup.timer.library.run_sptile, product)

    def close(self):
        self._plan.close()


class _Description(ctypes.Structure):
    """struct matrix_descr of oneMKL."""

    _fields_ = [("type", c_int), ("mode", c_int), ("diag", c_int)]


class _MklProduct(ctypes.Structure):
    _fields_ = [
        ("multiply", c_void_p),
        ("matrix", c_void_p),
        ("b", c_void_p),
        ("c", c_void_p),
        ("description", _Description),
        ("n", c_int),
    ]


class Mkl(_Native):
    """oneMKL's inspector-executor product with 32-bit indices, after hints and mkl_sparse_optimize."""

    title = "oneMKL"
    GENERAL, NON_TRANSPOSE, ZERO_BASED, ROW_MAJOR, CALLS = 20, 10, 0, 101, 1000

    @classmethod
    def load(cls, setup):
        # Use GNU's OpenMP like Eigen and the read: waiting threads of a second OpenMP runtime would occupy
        # cores.
        os.environ["MKL_THREADING_LAYER"] = "GNU"
        cls.library = ctypes.CDLL(str(cls._find(setup.mkl)), mode=ctypes.RTLD_GLOBAL)
        text = ctypes.create_string_buffer(200)
        cls.library.MKL_Get_Version_String(text, len(text))
        number = text.value.decode().split("Version ")[-1].split("-")[0].split(" ")[0]
        cls.version = f"oneMKL {number} {cls._kernels()}".strip()

    @classmethod
    def _kernels(cls):
        """Returns the name of the library of kernels that oneMKL selects for this processor, "" if linked statically."""
        cls.library.mkl_sparse_optimize(None)  # fails, but only after the selection
        found = re.search(r"libmkl_(def|mc3|avx\d+)\b", Path("/proc/self/maps").read_text())
        return found.group(0) if found else ""

    @staticmethod
    def _folders():
        given = os.environ.get("LD_LIBRARY_PATH", "").split(":")
        return [Path(folder) for folder in [*given, f"{sys.prefix}/lib", "/usr/lib/x86_64-linux-gnu"] if folder]

    @classmethod
    def _find(cls, path):
        if path:
            return path
        for folder in cls._folders():
            for file in sorted(folder.glob("libmkl_rt.so*")):
                return file
        raise Missing("libmkl_rt.so was not found; run `pip install mkl` or pass its path with --mkl")

    def __init__(self, setup, case):
        self.library.MKL_Set_Num_Threads(case.threads)
        rows, cols, n = *case.a.shape, case.b.shape[1]
        kind = "s" if case.a.dtype == np.float32 else "d"
        # oneMKL may read the arrays until the handle is destroyed.
        self._arrays = [part.astype(np.int32) for part in (case.a.indptr, case.a.indices)] + [case.a.data]
        row_ptr, col_idx, values = map(_address, self._arrays)
        self._matrix, description = c_void_p(), _Description(self.GENERAL, 0, 0)
        self._call(
            f"{kind}_create_csr",
            ctypes.byref(self._matrix),
            self.ZERO_BASED,
            rows,
            cols,
            *map(c_void_p, (row_ptr, row_ptr + 4, col_idx, values)),
        )
        shape = [] if n == 1 else [self.ROW_MAJOR, n]
        multiply = "mv" if n == 1 else "mm"
        self._call(f"set_{multiply}_hint", self._matrix, self.NON_TRANSPOSE, description, *shape, self.CALLS)
        self._call("optimize", self._matrix)
        function = getattr(self.library, f"mkl_sparse_{kind}_{multiply}")
        operands = _address(case.b), _address(case.c)
        product = _MklProduct(ctypes.cast(function, c_void_p), self._matrix, *operands, description, n)
        run = setup.timer.library.run_mkl_f32 if kind == "s" else setup.timer.library.run_mkl_f64
        super().__init__(setup.timer, run, product)

    def _call(self, name, *arguments):
        status = getattr(self.library, f"mkl_sparse_{name}")(*arguments)
        if status != 0:
            raise RuntimeError(f"mkl_sparse_{name} failed with status {status}")

    def close(self):
        self._call("destroy", self._matrix)


class SciPy:
    """The kernels that `csr @ B` calls, with one thread and an existing result, which they need cleared."""

    title = "SciPy"

    @classmethod
    def load(cls, setup):
        cls.version = f"SciPy {scipy.__version__}"

    def __init__(self, setup, case):
        rows, cols, n = *case.a.shape, case.b.shape[1]
        index = [part.astype(np.int32) for part in (case.a.indptr, case.a.indices)]
        operands = (*index, case.a.data, case.b.ravel(), case.c.ravel())
        self._clear = case.c.fill
        self._multiply = _sparsetools.csr_matvec if n == 1 else _sparsetools.csr_matvecs
        self._arguments = (rows, cols, *([] if n == 1 else [n]), *operands)

    def run(self):
        self._clear(0)
        self._multiply(*self._arguments)

    def seconds(self, count, warm):
        if warm:
            self.run()
        start = time.perf_counter()
        for _ in range(count):
            self.run()
        return time.perf_counter() - start

    def close(self):
        pass


class _EigenProduct(ctypes.Structure):
    _fields_ = [(name, c_void_p) for name in ("row_ptr", "col_idx", "values", "b", "c")]
    _fields_ += [(name, c_int32) for name in ("rows", "cols", "n")]


class Eigen(_Native):
    """Eigen's product of row-major matrices with its own OpenMP loop, compiled with -O3 -march=native."""

    title = "Eigen"

    @classmethod
    def load(cls, setup):
        folders = [setup.eigen] if setup.eigen else ["/usr/include/eigen3", "/usr/local/include/eigen3"]
        found = next((folder for folder in folders if (Path(folder) / "Eigen/SparseCore").exists()), None)
        if found is None:
            raise Missing("Eigen/SparseCore was not found; install libeigen3-dev or pass its folder with --eigen")
        cls.library = compiled("eigen.cpp", setup.build, setup.processor, ["-isystem", str(found)])
        cls.version = "Eigen " + ".".join(str(cls.library.eigen_version(part)) for part in range(3))

    def __init__(self, setup, case):
        self.library.eigen_threads(case.threads)
        self._arrays = [part.astype(np.int32) for part in (case.a.indptr, case.a.indices)]
        pointers = map(_address, (*self._arrays, case.a.data, case.b, case.c))
        product = _EigenProduct(*pointers, *case.a.shape, case.b.shape[1])
        run = self.library.run_eigen_f32 if case.a.dtype == np.float32 else self.library.run_eigen_f64
        super().__init__(setup.timer, run, product)


class _Reading(ctypes.Structure):
    _fields_ = [("words", c_void_p), ("count", c_int64), ("sum", c_void_p), ("threads", c_int)]


class Reading(_Native):
    """A sequential read of the first `size` bytes of an array."""

    title = "read"

    def __init__(self, timer, array, size, threads):
        self._sum = ctypes.c_uint64()
        address = ctypes.cast(ctypes.byref(self._sum), c_void_p)
        super().__init__(timer, timer.library.run_reading, _Reading(_address(array), size // 8, address, threads))


VENDORS = {"mkl": Mkl, "scipy": SciPy, "eigen": Eigen}
