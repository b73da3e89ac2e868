#!/usr/bin/env python3
"""Proves what an addition costs: a toy format, operation, kernel and attribute edit few files, and work everywhere at once.

    exercise_test.py PROJECT_ROOT SPTILE

SPTILE is the command with all of them. Every table and command must know them without another edit.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

from apply_edits import edited_files

# exercise -> files that may be edited, at most
LIMITS = {"format": 4, "operation": 6, "kernel": 3, "attribute": 2}


def check(what, holds):
    print(("ok: " if holds else "FAILED: ") + what)
    if not holds:
        sys.exit(1)


def main():
    root, sptile = pathlib.Path(sys.argv[1]), sys.argv[2]

    def run(*arguments):
        done = subprocess.run([sptile, *map(str, arguments)], capture_output=True, text=True)
        check(" ".join(map(str, arguments[:1])) + f" exits with 0 ({done.stderr.strip()[:200]})", done.returncode == 0)
        return done.stdout

    for name, limit in LIMITS.items():
        edited = edited_files(root / "tests/exercise" / name / "edits.patch")
        check(f"{name}: {len(edited)} files edited, at most {limit}: {', '.join(edited)}", len(edited) <= limit)

    kernels = json.loads(run("list", "kernels", "--json"))["kernels"]
    check("the format has kernels of all operations",
          {k["op"] for k in kernels if k["format"] == "bitwin"} == {"spmm", "sddmm", "edge_add"})
    check("the operation has kernels of all formats",
          {k["format"] for k in kernels if k["op"] == "edge_add"} == {k["format"] for k in kernels if k["device"] == "cpu"})
    check("the kernel is listed", any(k["name"] == "cuda.csr.plain" for k in kernels))

    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        matrix, bundle, back = folder / "a.mtx", folder / "a.h5", folder / "b.mtx"
        run("gen", "rmat", "--scale", "9", "--edges", "6000", "-o", matrix)
        run("convert", matrix, bundle, "--format", "all", "--reorder", "degree", "--refreshable")
        run("verify", bundle)
        held = [f["name"] for f in json.loads(run("info", bundle, "--json"))["formats"]]
        check("convert --format all stores the format", "bitwin" in held)
        run("export", bundle, back, "--from", "bitwin")
        check("export gives the matrix back", body_of(matrix) == body_of(back))
        for operation in ("spmm", "sddmm", "edge_add"):
            result = json.loads(run("run", bundle, "--op", operation, "--format", "bitwin", "--kernel",
                                    kernel_name(kernels, operation), "-n", "17", "--check", "--json"))
            check(f"{operation} of the format is right", result["checked"] and result["rel_err"] <= result["tolerance"])
        shifted = json.loads(run("run", bundle, "--op", "edge_add", "--format", "csr", "-n", "8", "--shift", "3", "--check",
                                 "--json"))
        check("run sets the attribute", shifted["op"] == "edge_add shift=3" and shifted["checked"])
        stats = json.loads(run("stats", matrix, "--json"))
        check("stats counts the format", any(f["name"] == "bitwin" and f["b_rows"] > 0 for f in stats["formats"]))
        rows = json.loads(run("bench", matrix, "--op", "edge_add", "--format", "csr,bitwin", "-n", "8", "--json"))["rows"]
        check("bench measures the operation", len(rows) >= 1)


def kernel_name(kernels, operation):
    return next(k["name"] for k in kernels if k["format"] == "bitwin" and k["op"] == operation)


def body_of(path):
    """Sorted entries of a Matrix Market file."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("%")]
    return sorted(lines[1:])


if __name__ == "__main__":
    main()
