#!/usr/bin/env python3
"""Times sptile's products on the CPU against oneMKL, SciPy and Eigen, in one process, in turns.

    tools/bench/cpu_vendors.py --csv vendors.csv MATRIX.mtx.xz FOLDER...
    tools/bench/cpu_vendors.py --summary vendors.csv

A matrix is a file of Matrix Market (.mtx, also .gz, .bz2 and .xz) or of scipy.sparse.save_npz. A folder means all
of its matrices. Their values are replaced with random ones. Each result is compared with a double-precision product
before it is timed. Times are minima: the libraries take turns in alternating order, each with the same number of runs
in a loop of C++. They use the same B and C, which are aligned to 64 bytes.

Needs NumPy, SciPy and a C++ compiler with OpenMP. Libraries that are not installed are skipped. Takes sptile from the
environment, otherwise from this tree and its folder build.
"""

import argparse
import bz2
import datetime
import gzip
import importlib.util
import lzma
import math
import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse

ROOT = Path(__file__).resolve().parents[2]
if importlib.util.find_spec("sptile") is None:
    sys.path.append(str(ROOT / "runtime/python"))
    os.environ.setdefault("SPTILE_LIBRARY", str(ROOT / "build/runtime/libsptile.so.0"))

from vendors import machine, table  # noqa: E402
from vendors.contenders import VENDORS, Reading, Sptile  # noqa: E402
from vendors.native import Missing, Timer  # noqa: E402

DTYPES = {"f32": np.float32, "f64": np.float64}
OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
SAMPLE = 0.5e-3  # seconds of a timed loop of the fastest library; longer loops are interrupted more often
LONGEST = 10e-3  # seconds of a timed loop of the slowest library, unless one product takes longer
WARM = 5e-3  # shorter products run once before the loop, so that caches contain the library's data
SPINS = "20000"  # GOMP_SPINCOUNT: threads of GNU's OpenMP wait about 0.5 ms for the next product, then sleep
PAUSE = 2e-3  # seconds after which the waiting threads of the previous library sleep
ROUNDS = 3  # minimum number of samples


@dataclass
class Setup:
    """Settings of all cases."""

    timer: Timer
    build: Path
    processor: str
    mkl: str | None
    eigen: str | None
    buffer: np.ndarray | None = None  # for reads; None: no reads
    bandwidth: dict = field(default_factory=dict)  # bytes per second of a read of the buffer, by number of threads


@dataclass
class Case:
    """One product C = A B."""

    a: scipy.sparse.csr_matrix
    b: np.ndarray
    c: np.ndarray
    threads: int
    reference: np.ndarray
    scale: np.ndarray  # bounds the absolute terms of each row


def complain(text):
    print(f"cpu_vendors: {text}", file=sys.stderr, flush=True)


def aligned(shape, dtype):
    """Returns an array of zeros whose first byte is at a multiple of 64."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.zeros(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(dtype).reshape(shape)


def files_of(paths):
    for path in map(Path, paths):
        yield from sorted(file for file in path.iterdir() if file.is_file()) if path.is_dir() else [path]


def name_of(path):
    return path.name.removesuffix(".npz").split(".mtx")[0]


def read(path):
    """Returns the matrix of a file as CSR."""
    if path.suffix == ".npz":
        return scipy.sparse.csr_matrix(scipy.sparse.load_npz(path))
    with OPENERS.get(path.suffix, open)(path, "rb") as file:
        return scipy.sparse.csr_matrix(scipy.io.mmread(file))


def matrices(options):
    """Yields name and matrix of each file with enough entries, with random values that f32 represents."""
    for path in files_of(options.matrices):
        if ".mtx" not in path.name and path.suffix != ".npz":
            continue
        try:
            matrix = read(path)
        except (OSError, ValueError, OverflowError, EOFError) as error:
            complain(f"{path}: skipped: {error}")
            continue
        if matrix.nnz >= options.min_entries:
            matrix.sum_duplicates()
            random = np.random.default_rng(options.seed)
            matrix.data = random.uniform(-1, 1, matrix.nnz).astype(np.float32).astype(np.float64)
            yield name_of(path), matrix


def cases(matrix, n, options):
    """Yields the types and threads of a matrix with n columns. The reference is computed once."""
    random = np.random.default_rng(options.seed + 1)
    b = random.uniform(-1, 1, (matrix.shape[1], n)).astype(np.float32).astype(np.float64)
    reference = matrix @ b
    scale = np.asarray(abs(matrix).sum(axis=1)).reshape(-1, 1) + np.finfo(np.float32).tiny
    for kind in options.types:
        a = matrix.astype(DTYPES[kind])
        operand = aligned(b.shape, DTYPES[kind])
        operand[:] = b
        c = aligned(reference.shape, DTYPES[kind])
        for threads in options.threads:
            yield kind, Case(a, operand, c, threads, reference, scale)


def check(contender, case):
    """Raises ValueError if a result is further from the reference than rounding explains."""
    case.c.fill(np.nan)
    contender.run()
    error = float((np.abs(case.c - case.reference) / case.scale).max(initial=0))
    longest = int(np.diff(case.a.indptr).max(initial=0))
    tolerance = np.finfo(case.c.dtype).eps * (longest + 4)
    if not error <= tolerance:
        raise ValueError(f"the relative error {error:.3g} exceeds {tolerance:.3g}")


def prepared(name, make, case):
    """Returns a checked contender, or None with a message."""
    try:
        contender = make()
        check(contender, case)
    except (RuntimeError, ValueError, MemoryError, ImportError) as error:
        complain(f"{name}: {error}")
        return None
    return contender


def contenders(setup, case, options, vendors):
    """Returns the products to time by their column in the CSV file: formats of sptile, libraries, and the read."""
    makers = {layout: (lambda layout=layout: Sptile(setup, case, layout)) for layout in options.formats}
    makers |= {name: (lambda vendor=vendor: vendor(setup, case)) for name, vendor in vendors.items()}
    found = {name: prepared(name, make, case) for name, make in makers.items()}
    found = {name: contender for name, contender in found.items() if contender is not None}
    if setup.buffer is not None and case.b.shape[1] == 1 and size_of(case) <= setup.buffer.nbytes:
        found["read"] = Reading(setup.timer, setup.buffer, size_of(case), case.threads)
    return found


def size_of(case):
    """Returns the bytes of A in CSR with 64-bit row pointers and 32-bit columns, of B and of C."""
    return case.a.nnz * (4 + case.a.dtype.itemsize) + 8 * (case.a.shape[0] + 1) + case.b.nbytes + case.c.nbytes


def number_of_runs(seconds):
    """Returns the number of products that a timed loop runs, given the seconds of one product of each library."""
    return max(1, min(math.ceil(SAMPLE / max(min(seconds), 1e-9)), int(LONGEST / max(seconds))))


def time_in_turns(found, case, options):
    """Returns the minimum seconds of each contender."""
    least = {name: min(contender.seconds(1, 0) for _ in range(2)) for name, contender in found.items()}
    count = number_of_runs(least.values())
    order, rounds, start = list(found), 0, time.perf_counter()
    while (passed := time.perf_counter() - start) < options.seconds or (rounds < ROUNDS and passed < options.limit):
        for name in order:
            if case.threads > 1:
                time.sleep(PAUSE)
            seconds = found[name].seconds(count, least[name] < WARM) / count
            least[name] = min(least[name], seconds)
        order.reverse()
        rounds += 1
    return least


def rows_of(name, kind, case, options, setup, vendors):
    """Times a case. Returns one row per format of sptile."""
    found = contenders(setup, case, options, vendors)
    kernels = {layout: found[layout].kernel for layout in options.formats if layout in found}
    least = time_in_turns(found, case, options) if kernels else {}
    for contender in found.values():
        contender.close()
    us = {name: f"{1e6 * seconds:.4g}" for name, seconds in least.items()}
    shared = {f"{vendor}_us": us[vendor] for vendor in vendors if vendor in us}
    if "read" in us:
        bandwidth = f"{setup.bandwidth[case.threads] / 1e9:.1f}"
        shared |= {"bytes": size_of(case), "read_us": us["read"], "memory_gb_per_s": bandwidth}
    rows, cols = case.a.shape
    shared |= {"matrix": name, "rows": rows, "cols": cols, "nonzeros": case.a.nnz}
    shared |= {"type": kind, "n": case.b.shape[1], "threads": case.threads}
    return [shared | {"format": layout, "kernel": kernels[layout], "sptile_us": us[layout]} for layout in kernels]


def print_row(row):
    ratios = [
        f"{title} {float(row[column]) / float(row['sptile_us']):.2f}"
        for column, title in table.TIMES.items()
        if column in row
    ]
    case = f"{row['matrix']} {row['type']} N={row['n']} threads={row['threads']} {row['kernel']} {row['sptile_us']} us"
    print(case, *ratios, flush=True)


def available(names, setup):
    """Returns the libraries that are installed, by name."""
    found = {}
    for name in names:
        try:
            VENDORS[name].load(setup)
        except (Missing, OSError) as error:
            complain(f"{VENDORS[name].title} skipped: {error}")
            continue
        found[name] = VENDORS[name]
    return found


def read_bandwidth(timer, buffer, threads):
    """Returns the bytes per second of a read of the buffer."""
    reading = Reading(timer, buffer, buffer.nbytes, threads)
    rate = buffer.nbytes / min(reading.seconds(1, 0) for _ in range(9))
    print(f"read of {buffer.nbytes >> 20} MiB threads={threads}: {rate / 1e9:.1f} GB/s")
    return rate


def set_up(options):
    os.environ.setdefault("GOMP_SPINCOUNT", SPINS)  # before a library loads OpenMP
    cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    if load > cores / 2:
        complain(f"other programs use this machine (load {load:.1f}): times with several threads are too long")
    processor = machine.processor(cores)
    setup = Setup(Timer(options.build, processor), options.build, processor, options.mkl, options.eigen)
    if options.stream:
        setup.buffer = np.ones(min(max(4 * machine.last_level_cache(), 1 << 28), 1 << 30), np.uint8)
        setup.bandwidth = {threads: read_bandwidth(setup.timer, setup.buffer, threads) for threads in options.threads}
    return setup


def measure(options):
    setup = set_up(options)
    Sptile.load(setup)
    vendors = available(options.vendors, setup)
    facts = {
        "processor": setup.processor,
        "date": datetime.date.today().isoformat(),
        "commit": options.commit if options.commit is not None else machine.commit(ROOT),
        "versions": ", ".join(vendor.version for vendor in vendors.values()),
    }
    rows = []
    for name, matrix in matrices(options):
        for n in options.n:
            for kind, case in cases(matrix, n, options):
                for row in rows_of(name, kind, case, options, setup, vendors):
                    rows.append(row | facts)
                    print_row(row)
        if options.csv and rows:
            table.write(options.csv, rows)
    return rows


def words(known=None):
    """Returns a type of argparse: words separated by commas, each of `known`."""

    def parse(text):
        found = [word for word in text.split(",") if word]
        wrong = [word for word in found if known is not None and word not in known]
        if wrong:
            raise argparse.ArgumentTypeError(f"{wrong[0]!r} is not one of {', '.join(known)}")
        return found

    return parse


def numbers(text):
    found = [int(word) for word in text.split(",")]
    if min(found) < 1:
        raise argparse.ArgumentTypeError(f"{min(found)} is less than 1")
    return found


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matrices", nargs="*", metavar="PATH", help="files and folders of matrices")
    parser.add_argument("--vendors", type=words(VENDORS), default=list(VENDORS), help="[default: mkl,scipy,eigen]")
    parser.add_argument(
        "--formats", type=words(), default=["csr"], help="storage formats of sptile, and auto [default: csr]"
    )
    parser.add_argument("-n", type=numbers, default=[1, 4, 8, 32, 128], help="columns of B [default: 1,4,8,32,128]")
    parser.add_argument("--types", type=words(DTYPES), default=list(DTYPES), help="[default: f32,f64]")
    parser.add_argument("--threads", type=numbers, default=[1, 2], help="numbers of threads [default: 1,2]")
    parser.add_argument("--min-entries", type=int, default=10000, help="skip smaller matrices [default: 10000]")
    parser.add_argument("--seconds", type=float, default=0.3, help="measuring time of a case [default: 0.3]")
    parser.add_argument("--limit", type=float, default=20, help="maximum time of a case that is slow [default: 20]")
    parser.add_argument("--stream", action="store_true", help="with N = 1, compare with a read of the same size")
    parser.add_argument("--csv", help="file to write")
    parser.add_argument("--summary", metavar="CSV", help="print the summary of a file and measure nothing")
    parser.add_argument("--mkl", help="path of libmkl_rt.so [default: LD_LIBRARY_PATH, this Python]")
    parser.add_argument("--eigen", help="folder with Eigen/SparseCore [default: /usr/include/eigen3]")
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build/bench", help="folder for compiled files [default: build/bench]"
    )
    parser.add_argument("--commit", help="commit to record [default: that of the working tree]")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    if not options.matrices and not options.summary:
        parser.error("name a matrix, a folder of matrices, or a CSV file with --summary")
    return options


def main(arguments=None):
    options = parse(arguments)
    try:
        rows = table.read(options.summary) if options.summary else measure(options)
    except Missing as error:
        raise SystemExit(f"cpu_vendors: {error}") from None
    if not rows:
        raise SystemExit(f"cpu_vendors: no matrix with {options.min_entries} entries; lower --min-entries")
    print("\n".join(table.summary(rows)))


if __name__ == "__main__":
    main()
