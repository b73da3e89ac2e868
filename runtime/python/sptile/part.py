"""A part of a partitioned matrix: its two matrices, and the index lists for exchanging rows."""

from __future__ import annotations

import os
from ctypes import byref, c_void_p
from typing import Any

import numpy as np

from . import _arrays
from . import _library as c
from .bundle import Bundle, part_bundle, path_bytes
from .errors import ArgumentTypeError, BadInputError


class _PartHandle(c_void_p):
    """Owns an sptile_part."""

    def __del__(self, destroy: Any = c.lib.sptile_part_destroy) -> None:
        destroy(self)


class Part:
    """A part of a matrix that `sptile partition` divided. Its rows of the product are ``local @ B + halo @ R``.

    B contains the rows that this part owns, and R the rows that it receives from other parts, grouped by sender.
    Arrays are read-only views.

    Parameters
    ----------
    path : path
        File of the part, for example "part-0000.h5".
    copy : bool, optional
        Read the file into memory instead of mapping it.

    Attributes
    ----------
    id : str
        Identifier of the partition, 16 hexadecimal digits, as in partition.json.
    rank, parts : int
        Number of this part, starting at 0, and number of parts.
    shape, nnz
        Shape and number of nonzeros of the entire matrix, which is square.
    symmetric : bool
        True if the entire matrix is symmetric.
    local, halo : Bundle
        Matrices of shape (owned, owned) and (owned, needed).
    interior : int
        Number of rows before the first one with nonzeros in `halo`. Only later rows need rows of other parts.
    old_ids : array of int32
        Row of the entire matrix for each row of the part, shape (owned,).
    halo_ids : array of int32
        Row of the entire matrix for each column of `halo`, shape (needed,).
    send_offset : array of int64
        First index in `send_rows` for each part, shape (parts + 1,).
    send_rows : array of int32
        Rows of this part to send, ascending for each receiver.
    receive_offset : array of int64
        First row in R of each sender, shape (parts + 1,).

    Examples
    --------
    >>> import sptile
    >>> part = sptile.open_part("parts/part-0000.h5")
    >>> part.rank, part.parts, part.shape
    (0, 1, (2286, 2286))
    """

    def __init__(self, path: str | os.PathLike[str], *, copy: bool = False) -> None:
        handle = _PartHandle()
        options = c.MatrixOptions(copy=int(bool(copy)))
        name = path_bytes(path)
        c.check(c.lib.sptile_part_open(name, byref(options), byref(handle)))
        self._of_handle(handle, name, bool(copy))

    def _of_handle(self, handle: _PartHandle, path: bytes, copy: bool) -> None:
        self._handle, self._path, self._copy = handle, path, copy
        self.local: Bundle = part_bundle(path, copy, None, handle)
        self.halo: Bundle = part_bundle(path, copy, b"halo", handle)
        of_local = self.local._handle(False)
        self._absolute, self._content = of_local.source.name, of_local.content
        info = c.PartInfo()
        c.check(c.lib.sptile_part_describe(handle, byref(info)))
        self.id: str = f"{info.id:016x}"
        self.rank, self.parts = int(info.rank), int(info.parts)
        self.shape: tuple[int, int] = (int(info.rows), int(info.rows))
        self.nnz = int(info.entries)
        self.symmetric = bool(info.symmetric)
        self.interior = int(info.interior)
        self.old_ids = _view(handle, info.old_ids, info.owned, "<i4")
        self.halo_ids = _view(handle, info.halo_ids, info.needed, "<i4")
        self.send_offset = _view(handle, info.send_offset, info.parts + 1, "<i8")
        self.send_rows = _view(handle, info.send_rows, int(self.send_offset[-1]), "<i4")
        self.receive_offset = _view(handle, info.receive_offset, info.parts + 1, "<i8")

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened_again, (self._absolute, self._copy, self._content)

    def __deepcopy__(self, _: Any) -> Part:
        twin: Part = object.__new__(Part)
        twin._of_handle(self._handle, self._path, self._copy)
        return twin

    def __copy__(self) -> Part:
        return self.__deepcopy__(None)

    def __repr__(self) -> str:
        return (
            f"<sptile.Part {self.rank} of {self.parts}: {len(self.old_ids)} of {self.shape[0]} rows, "
            f"{self.local.nnz} local nonzeros, {self.halo.nnz} in {len(self.halo_ids)} halo columns>"
        )


def open_part(path: str | os.PathLike[str], *, copy: bool = False) -> Part:
    """Opens a part of a partitioned matrix by mapping it into memory, and checks its index lists.

    Parameters
    ----------
    path : path
        File of the part, for example "part-0000.h5".
    copy : bool, optional
        Read the file into memory instead, for directories that others can write to.

    Returns
    -------
    Part
        The part.

    Raises
    ------
    MissingFileError
        If the file does not exist.
    IoError
        If the file cannot be read.
    BadInputError
        If the file is not a part, or is damaged.
    UnsupportedError
        If a newer version wrote the file.

    Examples
    --------
    >>> import sptile
    >>> sptile.open_part("parts/part-0000.h5").local.shape
    (2286, 2286)
    """
    if not isinstance(path, str | os.PathLike):
        raise ArgumentTypeError(f"path must be a str or os.PathLike, got {path!r}")
    return Part(path, copy=copy)


def _opened_again(path: str, copy: bool, content: int) -> Part:
    """The part of a pickle."""
    part = Part(path, copy=copy)
    if part._content != content:
        raise BadInputError(f"{path}: the file changed after its Part was pickled; open it again")
    return part


def _view(handle: _PartHandle, pointer: int | None, count: int, typestr: str) -> np.ndarray[Any, Any]:
    if count == 0:
        empty: np.ndarray[Any, Any] = np.empty(0, typestr)
        empty.flags.writeable = False
        return empty
    return np.asarray(_arrays.HostMemory(handle, pointer or 0, count, typestr))
