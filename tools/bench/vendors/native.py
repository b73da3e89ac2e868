"""Compiles the C++ files of this folder for this machine and calls what they export."""

import ctypes
import hashlib
import os
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
FLAGS = ["-std=c++20", "-O3", "-march=native", "-fopenmp", "-DNDEBUG", "-shared", "-fPIC"]


class Missing(Exception):
    """A library or tool that is not installed; the message says what to install."""


def compiled(source, folder, processor, flags=()):
    """Returns the library of a source file; compiles it unless `folder` has it for this processor."""
    text = (HERE / source).read_bytes() + " ".join([processor, *FLAGS, *flags]).encode()
    target = Path(folder) / f"{Path(source).stem}-{hashlib.sha256(text).hexdigest()[:12]}.so"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_suffix(f".{os.getpid()}")
        command = [os.environ.get("CXX", "c++"), *FLAGS, *flags, str(HERE / source), "-o", str(part)]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except FileNotFoundError:
            raise Missing(f"{command[0]} was not found; install a C++ compiler or set CXX") from None
        if done.returncode != 0:
            raise Missing(f"{source} does not compile: {done.stderr.strip().splitlines()[-1]}")
        part.rename(target)
    return ctypes.CDLL(str(target))


class Timer:
    """Times products in a loop of C++, so that calls from Python do not count."""

    def __init__(self, folder, processor):
        self.library = compiled("calls.cpp", folder, processor)
        self._time_runs = self.library.time_runs
        self._time_runs.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int, ctypes.c_void_p]

    def seconds(self, run, product, count, warm):
        """Returns the seconds of `count` runs of a product, a ctypes structure, after an untimed one if `warm`."""
        seconds = ctypes.c_double()
        address = ctypes.cast(run, ctypes.c_void_p)
        status = self._time_runs(address, ctypes.byref(product), count, warm, ctypes.byref(seconds))
        if status != 0:
            raise RuntimeError(f"the product failed with status {status}")
        return seconds.value
