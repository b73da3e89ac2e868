"""Matrices of index tensors, cached by storage and version."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef

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
    """Values made of tensors, the latest `size` of them, each as long as the tensors' storages live."""

    def __init__(self, size: int) -> None:
        self._size = size
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
            for gone in [k for k, kept in self._kept.items() if any(storage.expired() for storage in kept.storages)]:
                del self._kept[gone]
            self._kept[key] = _Kept(storages, value)
            self._kept.move_to_end(key)
            if len(self._kept) > self._size:
                self._kept.popitem(last=False)

    def clear(self) -> None:
        """Forgets all values."""
        with self._lock:
            self._kept.clear()


def usable(x: Tensor) -> bool:
    """True for types and devices that products support."""
    return x.dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16) and x.device.type in ("cpu", "cuda")
