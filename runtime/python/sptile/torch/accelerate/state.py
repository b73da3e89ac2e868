"""The scope and the graph of each thread, and the patches of a scope."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple


class Patch(NamedTuple):
    """An attribute, and what replaces it while a scope is active."""

    owner: Any
    name: str
    original: Callable[..., Any]
    replacement: Callable[..., Any]
    own: bool = True  # the owner has it itself, not a class it inherits from

    def apply(self) -> None:
        """Replaces the attribute."""
        setattr(self.owner, self.name, self.replacement)

    def revert(self) -> None:
        """Restores the attribute."""
        if self.own:
            setattr(self.owner, self.name, self.original)
        else:
            delattr(self.owner, self.name)


class _State(threading.local):
    scope: Any = None  # a Scope, or None
    graph: Any = None  # the Graph of the propagation that runs, or None
    layer: str = ""

    def __init__(self) -> None:
        self.models: list[Any] = []  # scopes of the models that run, outermost first


current = _State()
in_scope = False  # of any thread: compiled code depends on it
