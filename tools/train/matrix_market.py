"""Reader of Matrix Market patterns and of compressed text, with only the standard library and NumPy."""

import gzip
import lzma
import pathlib

import numpy as np

from errors import BAD_INPUT, IO, TrainError

OPENERS = {"": open, ".gz": gzip.open, ".xz": lzma.open}  # by file suffix


def find_file(folder, name):
    """Returns the path of `name` in `folder`, compressed or not."""
    paths = [pathlib.Path(folder) / (name + ending) for ending in OPENERS]
    for path in paths:
        if path.is_file():
            return path
    raise TrainError(
        IO,
        f"{paths[0]}: no such file, nor {' or '.join(e for e in OPENERS if e)}; a data set has "
        "graph.mtx, features.mtx and nodes.tsv (sptile gen community --data-set writes them)",
    )


def read_text(path):
    """Returns the decompressed text of a file."""
    opener = OPENERS[path.suffix if path.suffix in OPENERS else ""]
    try:
        with opener(path, "rt", encoding="ascii") as file:
            return file.read()
    except UnicodeDecodeError:
        raise TrainError(BAD_INPUT, f"{path}: not text") from None
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise TrainError(IO, f"{path}: {error}") from None


def read_pattern(path):
    """Returns (shape, rows, columns): 0-based int64 indices of the entries, in file order. Entries of a symmetric
    matrix are returned twice, its diagonal once. Values are ignored."""
    text = read_text(path)
    banner, _, rest = text.partition("\n")
    words = banner.lower().split()
    # Published graphs exist with a single %.
    if (
        len(words) != 5
        or words[0] not in ("%%matrixmarket", "%matrixmarket")
        or words[1:3] != ["matrix", "coordinate"]
    ):
        raise TrainError(BAD_INPUT, f"{path}:1: expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY'")
    field, symmetry = words[3:]
    if field not in ("pattern", "real", "integer") or symmetry not in ("general", "symmetric"):
        raise TrainError(
            BAD_INPUT,
            f"{path}:1: {field} {symmetry} is not supported; expected pattern, real or integer, and general or symmetric",
        )
    body = [line for line in rest.split("\n") if line and not line.startswith("%")]
    try:
        rows, cols, count = (int(word) for word in body[0].split())
        table = np.array(" ".join(body[1:]).split(), np.float64).reshape(-1, 2 if field == "pattern" else 3)
        if not np.isfinite(table[:, :2]).all():
            raise ValueError
    except (IndexError, ValueError):
        raise TrainError(
            BAD_INPUT, f"{path}: expected a size line (rows, columns, entries), then one line of numbers per entry"
        ) from None
    places = table[:, :2].astype(np.int64) - 1
    if len(places) != count:
        raise TrainError(BAD_INPUT, f"{path}: {len(places)} entries, but its size line says {count}")
    if rows < 1 or cols < 1 or (count and (places.min() < 0 or (places.max(axis=0) >= (rows, cols)).any())):
        raise TrainError(
            BAD_INPUT, f"{path}: an entry is outside {rows} x {cols}; row and column indices start at 1"
        )
    i, j = places.T
    if symmetry == "symmetric":
        mirrored = i != j
        i, j = np.concatenate([i, j[mirrored]]), np.concatenate([j, i[mirrored]])
    return (rows, cols), i, j
