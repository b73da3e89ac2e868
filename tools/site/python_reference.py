#!/usr/bin/env python3
"""Generates docs/reference/python.md from the docstrings of the package, which must be importable, with torch.

    PYTHONPATH=runtime/python SPTILE_LIBRARY=build/runtime/libsptile.so.0 tools/site/python_reference.py [FILE]
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

MODULES = (
    "sptile",
    "sptile.linalg",
    "sptile.torch",
    "sptile.torch.nn",
    "sptile.torch.sparse",
    "sptile.torch.distributed",
    "sptile.torch.distributed.nn",
)
# Classes that other functions return: users never call their constructors.
RETURNED = {"Plan", "Bundle", "Batch"}
PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "python.md"
INTRODUCTION = """# Python reference

Generated from the docstrings by `tools/site/python_reference.py`. Do not edit this page.

Array arguments accept NumPy and CuPy arrays, torch tensors, and objects with the buffer protocol,
`__cuda_array_interface__` or DLPack. All arrays of a call must have one type and one device. A dtype is a short name
("f16", "bf16", "f32", "f64"), a long name ("float32"), or a NumPy or torch dtype. A path is a `str` or `os.PathLike`.
"""


class Entry(NamedTuple):
    """A public name."""

    name: str
    """With its module, and its class if it is a member."""
    value: Any
    """What the name refers to; of a classmethod the function."""
    is_member: bool

    @property
    def is_class(self) -> bool:
        return inspect.isclass(self.value)

    @property
    def is_property(self) -> bool:
        return isinstance(self.value, property)

    @property
    def doc(self) -> str:
        return inspect.getdoc(self.value) or ""

    def signature(self) -> inspect.Signature | None:
        """Returns the signature without `self`; None for attributes and for classes that users never construct."""
        if self.is_property or (self.is_class and not has_constructor(self.value)):
            return None
        found = inspect.signature(self.value)
        named = list(found.parameters.values())
        bound = self.is_member and named and named[0].name in ("self", "cls")
        return found.replace(parameters=named[1:]) if bound else found


def has_constructor(kind: type) -> bool:
    return "__init__" in vars(kind) and kind.__name__ not in RETURNED and not hasattr(kind, "__dataclass_fields__")


def entries(modules: tuple[str, ...] = MODULES) -> Iterator[Entry]:
    """Yields the public names of the package: those in `__all__` of each module, and the members of classes."""
    for module_name in modules:
        module = importlib.import_module(module_name)
        for name in module.__all__:
            value = getattr(module, name)
            if isinstance(value, ModuleType):
                continue
            yield Entry(f"{module_name}.{name}", value, False)
            if inspect.isclass(value):
                yield from members(f"{module_name}.{name}", value)


def members(path: str, kind: type) -> Iterator[Entry]:
    """Yields the public methods and properties that a class defines. Those of torch.nn.Module are known."""
    known = [vars(base) for base in kind.__mro__[1:] if not base.__module__.startswith("sptile")]
    for name, value in vars(kind).items():
        value = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if not (inspect.isfunction(value) or isinstance(value, property)):
            continue
        inherited = name != "forward" and any(name in names for names in known)
        if name == "__call__" or not (name.startswith("_") or inherited):
            yield Entry(f"{path}.{name}", value, True)


# ---- Docstrings ----


def sections(doc: str) -> dict[str, str]:
    """Splits a numpydoc docstring. The key "" is the text before the first section."""
    parts = re.split(r"^([A-Z]\w+)\n-{3,}\n", doc, flags=re.MULTILINE)
    named = zip(parts[1::2], parts[2::2], strict=True)
    return {"": parts[0].strip(), **{name: text.strip("\n") for name, text in named}}


def items(text: str) -> list[tuple[str, str, str]]:
    """Returns name, type and description of each item of a section."""
    found: list[tuple[str, str, str]] = []
    for block in re.split(r"\n(?=\S)", text):
        head, _, body = block.partition("\n")
        name, _, kind = head.partition(" : ")
        found.append((name.strip(), kind.strip(), inspect.cleandoc(body)))
    return found


# ---- Page ----


def heading(entry: Entry) -> str:
    return f"#### {entry.name.removeprefix('sptile.')}" if entry.is_member else f"### {entry.name}"


def call(entry: Entry) -> str:
    """Returns the signature as code, with one parameter per line if it is long."""
    signature = entry.signature()
    if signature is None:
        return ""
    bare = signature.replace(
        parameters=[p.replace(annotation=p.empty) for p in signature.parameters.values()],
        return_annotation=signature.empty,
    )
    name = ".".join(entry.name.split(".")[-2:]) if entry.is_member else entry.name
    text = f"{name}{bare}"
    if len(text) > 100:
        marks = re.split(r", (?=[\w*]+(?:=|,|$|\)))", str(bare)[1:-1])
        text = f"{name}(\n" + "".join(f"    {mark},\n" for mark in marks) + ")"
    return f"```py\n{text}\n```\n"


def section(name: str, text: str) -> str:
    """Returns a section as Markdown."""
    if name == "Examples":
        return f"```pycon\n{text}\n```\n"
    if name == "Notes":
        return f"{text}\n"
    lines = []
    for item, kind, body in items(text):
        label = f"`{item}`" if name in ("Parameters", "Attributes") else item
        lines.append(bullet(f"{label}{f' ({kind})' if kind else ''}{': ' if body else ''}{body}"))
    return f"**{name}**\n\n" + "\n".join(lines) + "\n"


def bullet(text: str) -> str:
    """Returns an item of a list, wrapped."""
    return textwrap.fill(f"- {text}", 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def entry_text(entry: Entry) -> str:
    found = sections(entry.doc)
    parts = [heading(entry) + "\n", call(entry), found.pop("") + "\n", *(section(*one) for one in found.items())]
    return "\n".join(part for part in parts if part)


def page() -> str:
    """Returns the whole page."""
    text = [INTRODUCTION]
    for module_name in MODULES:
        found = list(entries((module_name,)))
        about = (inspect.getdoc(importlib.import_module(module_name)) or "").split("\n\n", 1)[0]
        names = [bullet(f"`{one.name}`: {one.doc.splitlines()[0]}") for one in found if not one.is_member]
        text += [f"## {module_name}\n", about + "\n", "\n".join(names) + "\n", *map(entry_text, found)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(text)).strip() + "\n"


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else PAGE).write_text(page())
