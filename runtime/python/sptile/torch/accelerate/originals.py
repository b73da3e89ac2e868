"""Lists of functions that torch and its compiler make once, of the originals.

Lists made while functions are replaced would contain the replacements for the rest of the process.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch

from .state import Patch

_LISTS = {
    "torch.overrides": ("get_overridable_functions", "get_ignored_functions", "get_testing_overrides"),
    "torch._dynamo.trace_rules": ("get_torch_obj_rule_map", "get_tensor_method"),
}


def make_lists() -> None:
    """Makes the lists, those of the compiler if it is loaded."""
    for module, names in _LISTS.items():
        for name in names:
            getattr(sys.modules.get(module), name, lambda: None)()


def patches(suspended: Callable[[], Any]) -> Iterator[Patch]:
    """Returns the patch of `torch.compile` that loads the compiler without patches; none if it is loaded."""
    if "torch._dynamo" in sys.modules:
        return
    original = torch.compile

    @functools.wraps(original)
    def compile(*arguments: Any, **named: Any) -> Any:
        if "torch._dynamo" not in sys.modules:
            with suspended():
                importlib.import_module("torch._dynamo")
        return original(*arguments, **named)

    yield Patch(torch, "compile", original, compile)
