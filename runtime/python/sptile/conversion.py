"""Reads matrices, orders their rows, converts them to bundles."""

from __future__ import annotations

import ctypes
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _library as c
from . import _tools as tools
from ._arrays import DTYPE_CODES, DTYPE_NAMES, dtype_code, list_address, view
from ._memory import check_memory, tocsr
from .bundle import Bundle, MemoryFile, remember_order
from .bundle import open as open_bundle
from .errors import BadInputError, UsageError

if TYPE_CHECKING:
    import scipy.sparse  # type: ignore[import-untyped, unused-ignore]

Path = str | os.PathLike[str] | bytes | os.PathLike[bytes]
Settings = Mapping[str, float] | None

_VALUE_TYPES = {c.F32: np.float32, c.F64: np.float64}


@dataclass(frozen=True)
class Windows:
    """Windows of `window_rows` neighbouring rows, in all of the matrix."""

    window_rows: int
    distinct_columns: int
    """Of each window, summed."""
    tc_blocks: int
    """Sum of ceil(distinct columns / 8)."""
    mean_nnz_tc: float
    """Entries per block."""
    nnz1_ratio: float
    """Share of the distinct columns that hold exactly one entry."""


@dataclass(frozen=True)
class Quality:
    """How good an order of rows is."""

    windows: tuple[Windows, ...]
    """Of 8, 16, 32, 64 and 128 rows."""
    jaccard_cost: float
    """Of neighbouring rows, summed: 0 where all are alike, up to rows - 1."""
    working_set_columns: float
    """Distinct columns in 1024 rows, in the mean."""
    bandwidth: int | None
    """Of a square matrix, rows and columns renumbered alike."""


@dataclass(frozen=True)
class Ordering:
    """An order of rows, and what it is worth."""

    permutation: npt.NDArray[np.int32]
    """[rows] The old row of each new row: `A[permutation]` is the matrix in this order."""
    before: Quality
    after: Quality


def read(
    path: Path,
    *,
    dtype: Any = None,
    real_part: bool = False,
    strict: bool = False,
    kind: str | None = None,
    base: int | None = None,
    separator: str | None = None,
    columns: str | Sequence[str] | None = None,
    threads: int = 0,
) -> scipy.sparse.csr_array:
    """Reads a matrix from any file that the command reads. Contents tell what it is, else the ending of the name.

    Matrix Market (.mtx), edge lists (.edges, .el, .txt, .tsv, .csv, ...) and METIS graphs (.graph, .metis), all also
    .gz, .bz2, .xz and .zst; Matrix Market in a tar archive, as the SuiteSparse collection packs it (.tar.gz); SciPy
    archives (.npz), also of edges; MAT-files (.mat); AnnData (.h5ad) and 10x Genomics (.h5); Harwell-Boeing (.rb, .rua,
    ...); DLMC (.smtx); FROSTT (.tns); binsparse in HDF5 (.bsp.h5); raw CSR (.csr); the source matrix of a bundle (.h5).
    Rows are in their own order, entries sorted and summed; a pattern with repeated entries has their counts.

    Args:
        path: of the file.
        dtype: of the values, float32 or float64; None: that of the file, float64 of text. Each entry of a
            pattern is 1.0.
        real_part: of complex files; else they are refused.
        strict: refuse values that the type cannot hold: that become infinite or 0, and integers that change. Else a
            RuntimeWarning counts them.
        kind: of the file, --from of the command: "edges", "mtx", "metis", "npz", ...; None: what the file says.
        base: of the vertices of an edge list, 0 or 1; None: 0 where a vertex 0 is named, else 1.
        separator: of the fields of an edge list: "blank" (any white space), "tab", "comma", "semicolon" or the
            character; None: that of the first edge.
        columns: of an edge list, names with commas or in a list: "source", "target", "weight", "time", and "-" for one
            to leave out; None: by the heading, else source, target and perhaps weight.
        threads: 0: all.

    Raises:
        IoError: the file cannot be read.
        BadInputError: it breaks its format, where the message names the line; or values are lost, with `strict`.
        UnsupportedError: more than 2**31 - 1 rows or columns, or a vertex beyond.
        UsageError: an argument is unknown, or dtype is neither float32 nor float64.

    Warns:
        UserWarning: what the command notes: what was guessed, left out or summed.
        RuntimeWarning: values that the type cannot hold.
    """
    from scipy.sparse import csr_array

    code = c.NONE if dtype is None else _value_type(dtype)
    options = _file_options(real_part, kind, base, separator, columns, _threads(threads), code)
    matrix = tools.Matrix.read(_path(path), options)
    arrays = matrix.arrays()
    if strict and (lost := _describe_losses(matrix.losses(), arrays.value_dtype, "read as {}")):
        raise BadInputError(f"{os.fsdecode(path)}: {'; '.join(lost)}; leave out strict, or take another dtype")
    for text, is_loss in matrix.notes():
        warnings.warn(text, RuntimeWarning if is_loss else UserWarning, stacklevel=2)
    check_memory(f"the row pointers of {arrays.rows} rows", 8 * (arrays.rows + 1))
    wide = arrays.nnz > np.iinfo(np.int32).max
    pointers = _borrow(matrix, arrays.row, arrays.rows + 1, np.int64).astype(np.int64 if wide else np.int32)
    ids = _borrow(matrix, arrays.col, arrays.nnz, np.int32)
    if arrays.value_dtype == c.NONE:
        values = np.ones(arrays.nnz, _VALUE_TYPES.get(code, np.float64))
    else:
        values = _borrow_values(matrix, arrays)
    result = csr_array((values, ids, pointers), shape=(arrays.rows, arrays.cols), copy=False)
    result.has_canonical_format = True
    return result


def convert(
    src: Any,
    path: Path | None = None,
    *,
    formats: str | Sequence[str] = "all",
    reorder: str = "identity",
    preset: str | None = None,
    settings: Settings = None,
    window_rows: int | None = None,
    seed: int = 1,
    dtype: Any = "float32",
    transpose: bool | str = "auto",
    refreshable: bool = False,
    overwrite: bool = False,
    strict: bool = False,
    real_part: bool = False,
    kind: str | None = None,
    base: int | None = None,
    separator: str | None = None,
    columns: str | Sequence[str] | None = None,
    threads: int = 0,
) -> Bundle:
    """Converts a matrix to a bundle, in memory or at `path`, where it appears whole or not at all. Ctrl-C stops it.

    Lists with a number for each entry of the bundle that is returned are in the order of the entries of `src`, as of
    `Bundle.of`; those of one that is opened later in that of its CSR arrays.

    Args:
        src: a path of what `read` reads, a SciPy matrix or array of any format, a CuPy one, or a sparse torch
            tensor. Entries are sorted, those of one place are summed; bool and entries without values then are counted.
        path: of the bundle (.h5); None: in memory.
        formats: to store beside csr: "all", or names, some with a parameter ("tall:64").
        reorder, preset, settings, window_rows, seed: how rows are ordered inside the formats; see `reorder`. None:
            windows as high as those of all formats ("bmat": 16, "tall": 64), 8 where they differ.
        dtype: of the values in the formats: float16, bfloat16, float32 or float64.
        transpose: True: formats of the transpose, too; "auto": where they cost nothing, of symmetric matrices.
        refreshable: values can be replaced later.
        overwrite: replace a file that is there.
        strict: refuse values that `dtype` cannot hold: that become infinite or 0, and integers that change. Else a
            RuntimeWarning counts them.
        real_part: of complex files; else they are refused.
        kind, base, separator, columns: of a file; see `read`.
        threads: 0: all.

    Warns:
        UserWarning: what the command notes of a file, as `read`.

    Raises:
        UsageError: an argument is unknown or out of range, src is no matrix, or the file exists.
        BadInputError: the matrix breaks its format.
        UnsupportedError: more than 2**31 - 1 rows or columns.
        IoError: a file cannot be read or written.
    """
    options = _order_options(reorder, preset, settings, window_rows, seed, threads)
    options.dtype = dtype_code(dtype)
    options.formats = _list("formats", formats)
    options.transpose = _transpose(transpose)
    options.refreshable, options.overwrite, options.strict = bool(refreshable), bool(overwrite), bool(strict)
    out = None if path is None else _path(path)
    code = c.F64 if options.dtype == c.F64 else c.F32
    matrix = _matrix(src, _file_options(real_part, kind, base, separator, columns, options.threads, code))
    if out is not None:
        report = matrix.convert(out, -1, options)
        bundle = open_bundle(os.fsdecode(out))
    else:
        memory = MemoryFile()
        report = matrix.convert(None, memory.fd, options)
        bundle = Bundle(memory, "in memory")
    if not isinstance(src, (str, bytes, os.PathLike)):
        remember_order(bundle, src)
    for sentence in _describe_losses(report, options.dtype, "{} in the bundle"):
        warnings.warn(sentence, RuntimeWarning, stacklevel=2)
    return bundle


def reorder(
    A: Any,
    method: str = "auto",
    *,
    preset: str | None = None,
    settings: Settings = None,
    window_rows: int = 8,
    seed: int = 1,
    real_part: bool = False,
    kind: str | None = None,
    base: int | None = None,
    separator: str | None = None,
    columns: str | Sequence[str] | None = None,
    threads: int = 0,
) -> Ordering:
    """Orders the rows of a matrix so that rows that share columns stand together.

    Args:
        A: as `src` of `convert`.
        method: as 'sptile list reorderers' says: "auto", "rcm", "metis", ...
        preset: settings of the method that have a name.
        settings: parameters of the method by name; they win over those of the preset.
        window_rows: height of the windows that it aims at, 1 to 1024.
        seed: of every random choice: the same seed gives the same order.
        real_part: of complex files; else they are refused.
        kind, base, separator, columns: of a file; see `read`.
        threads: 0: all.

    Warns:
        UserWarning: what the command notes of a file, as `read`.

    Raises:
        UsageError: an argument is unknown or out of range, or A is no matrix.
        BadInputError, UnsupportedError, IoError: as `convert`.
    """
    options = _order_options(method, preset, settings, window_rows, seed, threads)
    matrix = _matrix(A, _file_options(real_part, kind, base, separator, columns, options.threads, c.NONE))
    rows = matrix.arrays().rows
    permutation = np.empty(rows, np.int32)
    before, after = matrix.reorder(list_address(permutation, c.I32, rows, "the permutation"), options)
    return Ordering(permutation, _quality(before), _quality(after))


# ---- Arguments ----


def _path(path: Path) -> bytes:
    try:
        name = os.fsencode(path)
    except TypeError:
        raise UsageError(f"a path is wanted, not a {type(path).__name__}") from None
    if not name or b"\0" in name:
        raise UsageError("a path must not be empty or hold a NUL byte")
    return name


def _text(name: str, text: Any) -> bytes:
    if not isinstance(text, str):
        raise UsageError(f"{name} = {text!r}; a str is wanted")
    if "\0" in text:
        raise UsageError(f"{name} must not hold a NUL character")
    return text.encode("utf-8", "surrogateescape")


def _list(name: str, texts: Any) -> bytes:
    """Names with commas."""
    if isinstance(texts, (list, tuple)):
        return b",".join(_text(name, text) for text in texts)
    return _text(name, texts)


def _integer(name: str, number: Any, lowest: int, highest: int) -> int:
    try:
        value = number.__index__()
    except AttributeError:
        raise UsageError(f"{name} = {number!r}; an int is wanted") from None
    if not lowest <= value <= highest:
        raise UsageError(f"{name} = {value}; it must be from {lowest} to {highest}")
    return int(value)


def _threads(threads: Any) -> int:
    return _integer("threads", threads, 0, 4096)


def _value_type(dtype: Any) -> int:
    code = dtype_code(dtype)
    if code not in _VALUE_TYPES:
        raise UsageError(f"dtype = {dtype!r}; SciPy's matrices have float32 or float64")
    return code


def _describe_losses(lost: tools.Loss | tools.Report, dtype: int, now: str) -> list[str]:
    """Sentences on the values that a type cannot hold; {} of `now` stands for what they are instead."""
    name = DTYPE_NAMES.get(dtype, "")
    return [
        f"{what.format(name)}, {now.format(result)}: {count}"
        for count, what, result in (
            (lost.overflowed, "values too large for {}", "infinite"),
            (lost.underflowed, "values too small for {}", "0"),
            (lost.inexact, "integers that {} cannot hold exactly", "rounded values"),
        )
        if count
    ]


def _transpose(transpose: Any) -> int:
    if isinstance(transpose, str) and transpose == "auto":
        return tools.TRANSPOSE_IF_SYMMETRIC
    if isinstance(transpose, (bool, np.bool_)):
        return tools.TRANSPOSE_ALWAYS if transpose else tools.TRANSPOSE_NEVER
    raise UsageError(f'transpose = {transpose!r}; use True, False or "auto"')


def _order_options(
    method: Any, preset: Any, settings: Settings, window_rows: Any, seed: Any, threads: Any
) -> tools.Options:
    options = tools.Options(
        window_rows=0 if window_rows is None else _integer("window_rows", window_rows, 1, 1024),
        seed=_integer("seed", seed, 1, 2**64 - 1),
        threads=_threads(threads),
        method=_text("reorder", method),
    )
    if preset is not None:
        options.preset = _text("preset", preset)
    if settings is not None:
        options.settings = _text("settings", ",".join(f"{name}={value}" for name, value in dict(settings).items()))
    return options


_BASES = {None: tools.BASE_AUTO, 0: tools.BASE_0, 1: tools.BASE_1}
_SEPARATORS = {"blank": " ", "tab": "\t", "comma": ",", "semicolon": ";"}


def _file_options(
    real_part: Any, kind: Any, base: Any, separator: Any, columns: Any, threads: int, dtype: int
) -> tools.Options:
    """Options of reading a file; "auto", as in the command, is None."""
    base, separator, kind, columns = (None if isinstance(x, str) and x == "auto" else x for x in (base, separator, kind, columns))
    if base is not None:
        base = _integer("base", base, 0, 1)
    if separator is not None and separator not in (*_SEPARATORS, *_SEPARATORS.values()):
        raise UsageError(f"separator = {separator!r}; use {', '.join(map(repr, _SEPARATORS))} or None")
    options = tools.Options(
        dtype=dtype,
        real_part=bool(real_part),
        threads=threads,
        base=_BASES[base],
        separator=0 if separator is None else ord(_SEPARATORS.get(separator, separator)),
    )
    if kind is not None:
        options.kind = _text("kind", kind)
    if columns is not None:
        options.columns = _list("columns", columns)
    return options


# ---- Matrices ----


def _borrow(matrix: tools.Matrix, address: int | None, count: int, dtype: Any) -> npt.NDArray[Any]:
    """An array over memory of the matrix, which lives as long as the array."""
    if count == 0:
        return np.empty(0, dtype)
    memory = (ctypes.c_char * (count * np.dtype(dtype).itemsize)).from_address(address or 0)
    memory._owner = matrix
    return np.frombuffer(memory, dtype)


def _borrow_values(matrix: tools.Matrix, arrays: c.Arrays) -> npt.NDArray[Any]:
    """Values of a type of SciPy's; narrower ones are widened to float32, which is exact."""
    if arrays.value_dtype in _VALUE_TYPES:
        return _borrow(matrix, arrays.values, arrays.nnz, _VALUE_TYPES[arrays.value_dtype])
    if arrays.value_dtype == c.F16:
        return _borrow(matrix, arrays.values, arrays.nnz, np.float16).astype(np.float32)
    bits = _borrow(matrix, arrays.values, arrays.nnz, np.uint16).astype(np.uint32)  # upper halves of float32
    return (bits << 16).view(np.float32)


def _matrix(src: Any, options: tools.Options) -> tools.Matrix:
    if isinstance(src, (str, bytes, os.PathLike)):
        matrix = tools.Matrix.read(_path(src), options)
        for text, is_loss in matrix.notes():
            if not is_loss:  # what values lose the report says
                warnings.warn(text, UserWarning, stacklevel=3)
        return matrix
    kept, arrays = _csr_arrays(src)
    matrix = tools.Matrix.copy(arrays, options)
    del kept
    return matrix


def _csr_arrays(src: Any) -> tuple[Any, c.Arrays]:
    """The CSR arrays of a matrix of a framework in host memory, and what keeps them."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(src, getattr(torch, "Tensor", ())):
        return _from_torch(torch, src)
    if type(src).__module__.startswith("cupyx."):
        src = src.get()  # SciPy's
    if hasattr(src, "tocsr") and hasattr(src, "shape"):
        return _from_scipy(src)
    hint = "; a dense array becomes one by scipy.sparse.csr_array(A)" if hasattr(src, "__array__") else ""
    raise UsageError(f"a path, a SciPy or CuPy sparse matrix or a sparse torch tensor is wanted, not a {type(src).__name__}{hint}")


def _from_torch(torch: Any, src: Any) -> tuple[Any, c.Arrays]:
    if src.layout is torch.strided:
        raise UsageError("a sparse tensor is wanted; a dense one becomes one by .to_sparse_csr()")
    if src.dim() != 2:
        raise UsageError(f"a matrix is wanted, not a tensor of {src.dim()} dimensions")
    if src.dense_dim() > 0:
        raise UsageError("the tensor has a dense dimension; pass one whose two dimensions are sparse")
    src = src.detach()
    if src.layout is not torch.sparse_csr:
        src = _checked(torch, src)
    if src.layout in (torch.sparse_bsr, torch.sparse_bsc):
        src = src.to_sparse()
    if src.is_complex():
        raise UsageError(f"values are {src.dtype}; pass the real part")
    if src.layout is torch.sparse_coo:  # sums of bool are bool, those of 8 bits wrap, those of 16 bits are rounded
        src = src.to(_sum_type(torch, src.dtype))
    if src.layout is not torch.sparse_csr:
        check_memory(f"the row pointers of {src.shape[0]} rows", 8 * (src.shape[0] + 1))
        src = src.to_sparse_csr()
    values = src.values()
    if not values.is_floating_point():
        values = values.to(torch.int64)
    parts = [part.cpu().contiguous() for part in (src.crow_indices(), src.col_indices(), values)]
    return _described(tuple(src.shape), *parts)


def _checked(torch: Any, src: Any) -> Any:
    """The same tensor, whose indices are those of its layout: conversions of torch read and write by them."""
    try:
        if src.layout is torch.sparse_coo:
            coalesced = src.is_coalesced()
            return torch.sparse_coo_tensor(
                src._indices(), src._values(), src.shape, check_invariants=True, is_coalesced=coalesced
            )
        by_row = src.layout is torch.sparse_bsr
        pointers, ids = (src.crow_indices(), src.col_indices()) if by_row else (src.ccol_indices(), src.row_indices())
        return torch.sparse_compressed_tensor(
            pointers, ids, src.values(), src.shape, layout=src.layout, check_invariants=True
        )
    except RuntimeError as error:
        raise BadInputError(f"the indices of A are not those of a {src.layout} tensor: {error}") from None


def _sum_type(torch: Any, dtype: Any) -> Any:
    """The type of sums of values: exact, or at least float32."""
    if not dtype.is_floating_point:
        return torch.int64
    return torch.float32 if dtype.itemsize == 2 else dtype


def _from_scipy(src: Any) -> tuple[Any, c.Arrays]:
    if len(src.shape) != 2:
        raise UsageError(f"a matrix is wanted, not an array of {len(src.shape)} dimensions")
    if src.format != "csr":  # sums of bool are bool, those of 8 bits wrap, those of 16 bits are rounded
        if src.dtype.kind in "biu" and src.dtype != np.uint64:
            src = src.astype(np.int64)
        elif src.dtype == np.float16:
            src = src.astype(np.float32)
    csr = tocsr(src)
    values = np.asarray(csr.data)
    if values.dtype.kind == "u" and values.max(initial=0) > np.iinfo(np.int64).max:
        raise UsageError(f"values are {values.dtype} beyond 2**63 - 1; pass A.astype(float)")
    if values.dtype.kind in "biu":
        values = values.astype(np.int64)
    elif values.dtype.name not in DTYPE_CODES:
        raise UsageError(f"values are {values.dtype}; real numbers of {', '.join(DTYPE_CODES)} are wanted")
    parts = [np.ascontiguousarray(part, part.dtype.newbyteorder("=")) for part in map(np.asarray, (csr.indptr, csr.indices, values))]
    return _described(tuple(csr.shape), *parts)


def _described(shape: tuple[int, ...], pointers: Any, columns: Any, values: Any) -> tuple[Any, c.Arrays]:
    kept = pointers, columns, values
    row, col, data = (view(part, name) for part, name in zip(kept, ("row pointers", "columns", "values")))
    for one in (row, col, data):
        if len(one.shape) != 1:
            raise UsageError(f"an array of the matrix has {len(one.shape)} dimensions, not 1")
    if row.dtype not in (c.I32, c.I64) or col.dtype not in (c.I32, c.I64):
        raise UsageError(f"row pointers are {row.dtype_name}, columns {col.dtype_name}; int32 or int64 is wanted")
    if row.shape[0] != shape[0] + 1:
        raise UsageError(f"{row.shape[0]} row pointers for {shape[0]} rows; one more than rows is wanted")
    nnz = int(pointers[-1])
    if not 0 <= nnz <= min(col.shape[0], data.shape[0]):
        raise UsageError(f"the row pointers end with {nnz}; there are {col.shape[0]} columns and {data.shape[0]} values")
    return kept, c.Arrays(
        rows=shape[0], cols=shape[1], nnz=nnz, row=row.pointer, col=col.pointer, values=data.pointer,
        value_dtype=data.dtype, row_dtype=row.dtype, col_dtype=col.dtype, disorder=c.SUM,
    )  # fmt: skip


def _quality(measured: tools.Quality) -> Quality:
    windows = tuple(
        Windows(w.window_rows, w.distinct_columns, w.tc_blocks, w.mean_nnz_tc, w.nnz1_ratio) for w in measured.windows
    )
    bandwidth = None if measured.bandwidth < 0 else measured.bandwidth
    return Quality(windows, measured.jaccard_cost, measured.working_set_columns, bandwidth)
