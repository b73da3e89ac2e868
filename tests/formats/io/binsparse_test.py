#!/usr/bin/env python3
"""Reads bundles and .bsp.h5 files of ours with binsparse's reference reader, and has sptile read what its writer and h5py
write: binsparse_test.py SPTILE FOLDER

The reference is installed into a virtual environment at FOLDER the first time; where that cannot be, the test is skipped.
"""
import json
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
        exported = folder / f"{name}.bsp.h5"
        run(sptile, "export", bundle, exported)
        check(binsparse.load_binsparse(exported), matrix, dtype)
        print(f"ok {name}")


def run(sptile, verb, *arguments):
    """Standard output; with -q."""
    return subprocess.run([sptile, verb, *arguments, "-q"], check=True, stdout=subprocess.PIPE).stdout


def write_with_h5py(path, descriptor, arrays, **how):
    """`how`: chunks, compression and so on of all arrays."""
    import h5py
    import numpy as np
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file.create_dataset(name, data=np.asarray(array), **how)
        file.attrs["binsparse"] = json.dumps({"binsparse": {"version": "0.1", **descriptor}})


def theirs(folder):
    """Files of the same matrix, VALUED, as other programs write it, and with each the options that it needs."""
    import binsparse
    import numpy as np
    rows, columns, values = (np.array(part) for part in zip(*VALUED))
    shape, by_column = (3, 5), np.lexsort((rows, columns))
    pointers = np.searchsorted(rows, range(4)).astype(np.uint64)
    common = {"shape": shape, "number_of_stored_values": len(VALUED)}
    tensors = {
        "csr": binsparse.CSRMatrix(**common, pointers_to_1=pointers, indices_1=columns, values=values),
        "csc": binsparse.CSCMatrix(**common, pointers_to_1=np.searchsorted(columns[by_column], range(6)),
                                   indices_1=rows[by_column], values=values[by_column]),
        "coor": binsparse.COORMatrix(**common, indices_0=rows, indices_1=columns, values=values),
        "complex": binsparse.CSRMatrix(**common, pointers_to_1=pointers, indices_1=columns, values=values + 7j),
    }
    for name, tensor in tensors.items():
        binsparse.save_binsparse(tensor, folder / f"{name}.bsp.h5")
        yield folder / f"{name}.bsp.h5", ["--real-part"] if name == "complex" else []
    plain = {"pointers_to_1": pointers, "indices_1": columns, "values": values}
    for name, how in {"chunks": {"chunks": (2,)}, "gzip": {"compression": "gzip", "shuffle": True, "fletcher32": True}}.items():
        descriptor = {"format": "CSR", "shape": shape, "data_types": {"values": "float64"}}
        write_with_h5py(folder / f"{name}.bsp.h5", descriptor, plain, **how)
        yield folder / f"{name}.bsp.h5", []
    write_with_h5py(folder / "cooc.bsp.h5", {"format": "COOC", "shape": shape, "data_types": {"values": "float64"}},
                    {"indices_0": columns[by_column], "indices_1": rows[by_column], "values": values[by_column]})
    yield folder / "cooc.bsp.h5", []


def read_theirs(sptile, folder):
    Matrix(3, 5, VALUED).write(folder / "want.mtx", "real")
    run(sptile, "reorder", folder / "want.mtx", "--method", "identity", "-o", folder / "rewritten.mtx")
    want = (folder / "rewritten.mtx").read_text()
    for path, options in theirs(folder):
        found = run(sptile, "reorder", path, "--method", "identity", "-o", "-", *options).decode()
        assert found == want, (path, found)
        print(f"ok {path.name} of others")


def refuse_theirs(sptile, folder):
    """Data that are nowhere, in another file, behind a link, or packed in a way that is not known."""
    import h5py
    import numpy as np
    descriptor = {"format": "CSR", "shape": (3, 5), "data_types": {"values": "float64"}}
    arrays = {"pointers_to_1": [0, 1, 1, 1], "indices_1": [2], "values": [1.5]}

    def refused(name, change, code, message):
        path = folder / f"{name}.bsp.h5"
        write_with_h5py(path, descriptor, {key: array for key, array in arrays.items() if key != "values"})
        with h5py.File(path, "r+") as file:
            change(file)
        done = subprocess.run([sptile, "stats", path, "-q"], capture_output=True, text=True)
        assert done.returncode == code and message in done.stderr, (name, done)
        print(f"ok {name} is refused")

    refused("never_written", lambda f: f.create_dataset("values", shape=(1 << 40,), dtype="f8", chunks=(1 << 20,)),
            3, "0 bytes in a file of")
    refused("outside", lambda f: f.create_dataset("values", shape=(1,), dtype="f8", external=[("elsewhere.bin", 0, 8)]),
            4, "stores its data in other files")
    refused("link", lambda f: f.__setitem__("values", h5py.ExternalLink("csr.bsp.h5", "/values")), 4, "is a link")
    refused("lzf", lambda f: f.create_dataset("values", data=np.ones(1), compression="lzf"), 4, "by filter 32000")
    refused("text", lambda f: f.create_dataset("values", data=np.array([b"one"])), 4, "neither integers nor real")
    refused("flat", lambda f: f.create_dataset("values", data=np.ones((1, 1))), 3, "not a one-dimensional array")


def main():
    sptile, environment = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    if pathlib.Path(sys.prefix).resolve() != environment:
        python = install(environment)
        os.execv(python, [python, *sys.argv])
    with tempfile.TemporaryDirectory(prefix="sptile-binsparse-") as folder:
        read_all(sptile, pathlib.Path(folder))
        read_theirs(sptile, pathlib.Path(folder))
        refuse_theirs(sptile, pathlib.Path(folder))


main()
