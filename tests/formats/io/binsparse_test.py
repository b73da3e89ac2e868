#!/usr/bin/env python3
"""Reads bundles with binsparse's reference reader: binsparse_test.py SPTILE FOLDER

The reader is installed into a virtual environment at FOLDER the first time; where that cannot be, the test is skipped.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

READER = "binsparse==0.1.4"
SKIP = 77


def install(folder):
    """Gives back the Python that has the reader."""
    python = folder / "bin/python"
    if python.exists() and subprocess.run([python, "-c", "import binsparse"], capture_output=True).returncode == 0:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    for command in ([sys.executable, "-m", "venv", folder],
                    [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", READER]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            shutil.rmtree(folder, ignore_errors=True)
            print(f"SKIPPED: {READER} cannot be installed here:\n{done.stdout}{done.stderr}")
            sys.exit(SKIP)
    return python


class Matrix:
    """Rows, columns, entries (row, column, value) by row; the value is None in a pattern."""

    def __init__(self, rows, columns, entries):
        self.shape, self.entries = (rows, columns), entries

    def write(self, path, field):
        lines = [f"%%MatrixMarket matrix coordinate {field} general", f"{self.shape[0]} {self.shape[1]} {len(self.entries)}"]
        lines += [" ".join(str(part) for part in (row + 1, column + 1, value) if part is not None)
                  for row, column, value in self.entries]
        path.write_text("\n".join(lines) + "\n")


VALUED = [(0, 1, 1.5), (0, 4, -2.25), (2, 0, 3.0), (2, 1, 0.1), (2, 3, 1e-3)]
CASES = [  # name, field, entries, options of convert, type of the values
    ("f32", "real", VALUED, ["--dtype", "f32"], "float32"),
    ("f64", "real", VALUED, ["--dtype", "f64"], "float64"),
    ("half", "real", VALUED, ["--dtype", "f16"], "float32"),  # only the formats hold halves
    ("reordered", "real", VALUED, ["--reorder", "degree"], "float32"),
    ("pattern", "pattern", [(row, column, None) for row, column, _ in VALUED], [], "float32"),
    ("empty", "real", [], ["--dtype", "f64"], "float64"),
    ("empty_pattern", "pattern", [], [], "float32"),
]


def check(tensor, matrix, dtype):
    import binsparse
    import numpy as np
    counts = [sum(row == wanted for row, _, _ in matrix.entries) for wanted in range(matrix.shape[0])]
    values = np.array([1 if value is None else value for _, _, value in matrix.entries], dtype)
    assert isinstance(tensor, binsparse.CSRMatrix), tensor
    assert tensor.shape == matrix.shape and tensor.number_of_stored_values == len(matrix.entries)
    assert tensor.pointers_to_1.tolist() == [sum(counts[:row]) for row in range(matrix.shape[0] + 1)]
    assert tensor.indices_1.tolist() == [column for _, column, _ in matrix.entries]
    assert tensor.values.dtype == dtype and tensor.values.tolist() == values.tolist(), tensor.values


def read_all(sptile, folder):
    import binsparse
    import h5py
    for name, field, entries, options, dtype in CASES:
        matrix = Matrix(3, 5, entries)
        matrix.write(folder / f"{name}.mtx", field)
        bundle = folder / f"{name}.h5"
        subprocess.run([sptile, "convert", folder / f"{name}.mtx", bundle, "-q", *options], check=True, stdout=subprocess.DEVNULL)
        check(binsparse.load_binsparse(bundle), matrix, dtype)
        with h5py.File(bundle) as file:
            check(binsparse.BinsparseTensor.parse(binsparse.HDF5BinsparseContainer(file["csr"])), matrix, dtype)
        print(f"ok {name}")


def main():
    sptile, environment = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    if pathlib.Path(sys.prefix).resolve() != environment:
        python = install(environment)
        os.execv(python, [python, *sys.argv])
    with tempfile.TemporaryDirectory(prefix="sptile-binsparse-") as folder:
        read_all(sptile, pathlib.Path(folder))


main()
