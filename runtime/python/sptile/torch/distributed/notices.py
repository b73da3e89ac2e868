"""Notices of errors in the store of the group, which all ranks read now and then, so that an exchange of rows needs no
message."""

from __future__ import annotations

import json
import time
from typing import NamedTuple

from .ranks import Ranks

# Seconds between two requests to the store, which take 20 to 100 us each.
LOOK_SECONDS = 0.05


class Notice(NamedTuple):
    """A call that the ranks must compare in a message: the number of calls so far, the rank, and the call or the
    refusal of its operand."""

    number: int
    rank: int
    text: str
    refused: bool


class Notices:
    """Notices of the ranks that share an exchange. `name` is the same on all of them and of no other exchange."""

    def __init__(self, ranks: Ranks, name: str) -> None:
        self._ranks, self._next_look = ranks, 0.0
        self._newest, self._alarm = (f"sptile/{name}/{key}" for key in ("newest", "alarm"))
        if ranks.rank == 0:
            self._tell(self._newest, "")
            self._tell(self._alarm, "")

    def announce(self, notice: Notice) -> None:
        """Stores the newest call to compare."""
        self._tell(self._newest, json.dumps(notice))

    def ring(self, text: str) -> None:
        """Stores the error with which all ranks stop."""
        self._tell(self._alarm, text)

    def due(self) -> bool:
        """Returns whether the previous look was LOOK_SECONDS ago."""
        return time.monotonic() >= self._next_look

    def look(self) -> tuple[Notice | None, str]:
        """Returns the newest announced call, and the error of the alarm or ""."""
        found: list[bytes] = []

        def read() -> None:
            found[:] = self._ranks.store.multi_get([self._newest, self._alarm])

        self._ranks.guarded("a look at the store", read)
        self._next_look = time.monotonic() + LOOK_SECONDS
        newest, alarm = found
        return Notice(*json.loads(newest)) if newest else None, alarm.decode()

    def _tell(self, key: str, text: str) -> None:
        self._ranks.guarded("a note in the store", lambda: self._ranks.store.set(key, text))
