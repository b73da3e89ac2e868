"""What a thread accelerates at the moment."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .graphs import Graph
    from .scope import Scope


class _State(threading.local):
    scope: Scope | None = None
    graph: Graph | None = None  # of the propagation that runs
    layer: str = ""

    def __init__(self) -> None:
        self.models: list[Scope] = []  # scopes of the models that run, outermost first


current = _State()
