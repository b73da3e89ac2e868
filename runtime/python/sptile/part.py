"""One part of a partition: its two matrices, and the lists of the exchange between parts."""

from __future__ import annotations

import os
from ctypes import byref, c_void_p
from typing import Any

import numpy as np

from . import _arrays
from . import _library as c
from .bundle import Bundle, part_bundle, path_bytes
from .errors import BadInputError, UsageError


class _PartHandle(c_void_p):
    """Owns an sptile_part."""

    def __del__(self, destroy: Any = c.lib.sptile_part_destroy) -> None:
        destroy(self)


class Part:
    """One part of what `sptile partition` made: C = local @ B + halo @ R, where R has the rows of B that other
    parts own, one sender behind the other.

    id              of the partition, 16 hexadecimal digits, as partition.json has it
    rank, parts     which part it is, counted from 0, and of how many
    shape, nnz      of the whole matrix, which is square
    symmetric       whether the whole matrix equals its transpose
    local, halo     Bundle [owned, owned] and [owned, needed]
    old_ids         int32 [owned], row of the whole matrix of each row
    halo_ids        int32 [needed], the same of each column of halo
    send_offset     int64 [parts + 1], where the rows for each part begin in send_rows
    send_rows       int32, rows of this part that others need, ascending for each of them
    receive_offset  int64 [parts + 1], where the rows of each owner begin in R

    Arrays are read-only views, which stay valid.
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
            f"{self.local.nnz} entries local, {self.halo.nnz} in {len(self.halo_ids)} columns of others>"
        )


def open_part(path: str | os.PathLike[str], *, copy: bool = False) -> Part:
    """Opens one part of a partition, `part-0000.h5`, by mapping it, and proves its lists.

    copy: read it into memory instead, for folders that others can write.
    IoError: it cannot be read; BadInputError: it is no whole part; UnsupportedError: a newer layout.
    """
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"path = {path!r} is no path")
    return Part(path, copy=copy)


def _opened_again(path: str, copy: bool, content: int) -> Part:
    """The part of a pickle."""
    part = Part(path, copy=copy)
    if part._content != content:
        raise BadInputError(f"{path}: was replaced since its Part was pickled; open it again")
    return part


def _view(handle: _PartHandle, pointer: int | None, count: int, typestr: str) -> np.ndarray[Any, Any]:
    if count == 0:
        empty: np.ndarray[Any, Any] = np.empty(0, typestr)
        empty.flags.writeable = False
        return empty
    return np.asarray(_arrays.HostMemory(handle, pointer or 0, count, typestr))
