"""Matrices of index tensors, cached by storage and version, and made when they pay."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef

from ..handle import capturing
from ..matrix import SparseMatrix
from ..pattern import apart

Key = tuple[Any, ...]


def key_of(x: Tensor) -> Key:
    """Identifies the numbers of a dense tensor: its storage, its place in it, and its version. A change through
    `.data` or through memory shared with NumPy does not change the key."""
    version = -1 if x.is_inference() else x._version
    return (
        x.untyped_storage()._cdata,
        x.storage_offset(),
        tuple(x.shape),
        tuple(x.stride()),
        x.dtype,
        version,
    )


class _Kept(NamedTuple):
    storages: tuple[StorageWeakRef, ...]  # as long as a reference is held, no other storage has its key
    value: Any


class Cache:
    """Values made of tensors, the latest `size` of them, each as long as the tensors' storages live. `small` values
    of dead tensors are not removed at once, which takes longer than a small product."""

    def __init__(self, size: int, small: bool = False) -> None:
        self._size, self._small = size, small
        self._kept: OrderedDict[Key, _Kept] = OrderedDict()
        self._lock = threading.RLock()

    def find(self, key: Key) -> Any:
        """Returns the value, or None."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                return None
            if any(storage.expired() for storage in kept.storages):
                del self._kept[key]
                return None
            self._kept.move_to_end(key)
            return kept.value

    def keep(self, key: Key, tensors: Iterable[Tensor], value: Any) -> None:
        """Keeps a value that was made of `tensors`."""
        storages = tuple(StorageWeakRef(x.untyped_storage()) for x in tensors)
        with self._lock:
            if not self._small:
                for gone in [k for k, kept in self._kept.items() if any(one.expired() for one in kept.storages)]:
                    del self._kept[gone]
            self._kept[key] = _Kept(storages, value)
            self._kept.move_to_end(key)
            if len(self._kept) > self._size:
                self._kept.popitem(last=False)

    def __len__(self) -> int:
        return len(self._kept)

    def clear(self) -> None:
        """Forgets all values."""
        with self._lock:
            self._kept.clear()


# Elements of messages (entries times columns) from which a matrix pays in its first product.
PAYS_AT_ONCE = 1 << 21


class Matrices:
    """Matrices of tensors. That of few elements is made when its tensors are used again: new tensors in each step then
    cost no conversion."""

    def __init__(self) -> None:
        self._kept = Cache(64)
        self._uses = Cache(256, small=True)

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, key: Key) -> SparseMatrix | None:
        """Returns the matrix, or None."""
        found: SparseMatrix | None = self._kept.find(key)
        return found

    def keep(self, key: Key, tensors: tuple[Tensor, ...], matrix: SparseMatrix) -> None:
        """Keeps a matrix under another key."""
        self._kept.keep(key, tensors, matrix)

    def get(
        self, key: Key, tensors: tuple[Tensor, ...], elements: int, make: Callable[[], SparseMatrix]
    ) -> SparseMatrix | None:
        """Returns the matrix; None if it does not pay yet, and while a CUDA graph is captured without it."""
        matrix = self.find(key)
        if matrix is not None:
            return matrix
        uses = (self._uses.find(key) or 0) + 1
        self._uses.keep(key, tensors, uses)
        if uses == 1 and elements < PAYS_AT_ONCE or tensors[0].device.type == "cuda" and capturing():
            return None
        with apart():
            matrix = make()
        self.keep(key, tensors, matrix)
        return matrix

    def clear(self) -> None:
        """Forgets all matrices."""
        self._kept.clear()
        self._uses.clear()


def usable(x: Tensor) -> bool:
    """True for types and devices that products support."""
    return x.dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16) and x.device.type in ("cpu", "cuda")
