"""The scope and the graph of each thread, and the patches of a scope."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, NamedTuple


class Patch(NamedTuple):
    """An attribute, and what replaces it while a scope is active."""

    owner: Any
    name: str
    original: Callable[..., Any]
    replacement: Callable[..., Any]
    own: bool = True  # the owner has it itself, not a class it inherits from


class Patches:
    """Patches that are applied and reverted together. Those of modules are written to their dictionaries, because a
    scope is entered in each forward pass of a model."""

    def __init__(self, patches: Iterable[Patch]) -> None:
        self._modules: list[tuple[dict[str, Any], str, Any, Any]] = []
        self._others: list[Patch] = []
        self.patches = tuple(patches)
        for patch in self.patches:
            if isinstance(patch.owner, ModuleType):
                self._modules.append((vars(patch.owner), patch.name, patch.original, patch.replacement))
            else:
                self._others.append(patch)

    def are_current(self) -> bool:
        """Returns whether all attributes are still the originals."""
        return all(names.get(name) is original for names, name, original, _ in self._modules) and all(
            getattr(patch.owner, patch.name, None) is patch.original for patch in self._others
        )

    def apply(self) -> None:
        """Replaces the attributes."""
        for names, name, _, replacement in self._modules:
            names[name] = replacement
        for owner, name, _, replacement, _own in self._others:
            setattr(owner, name, replacement)

    def revert(self) -> None:
        """Restores the attributes."""
        for names, name, original, _ in self._modules:
            names[name] = original
        for owner, name, original, _, own in self._others:
            if own:
                setattr(owner, name, original)
            else:
                delattr(owner, name)


class _State(threading.local):
    scope: Any = None  # a Scope, or None
    graph: Any = None  # the Graph of the propagation that runs, or None
    layer: str = ""

    def __init__(self) -> None:
        self.models: list[Any] = []  # scopes of the models that run, outermost first


current = _State()
in_scope = False  # of any thread: compiled code depends on it
