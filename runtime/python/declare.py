#!/usr/bin/env python3
"""Generates declarations of the C interface from its headers.

    declare.py ctypes HEADER.h FILE.py     constants, structs and signatures for ctypes
    declare.py layout HEADER.h FILE.c      a C program that prints the size and the fields of each struct
    declare.py --check HEADER.h FILE.py    exits with 1 if FILE.py is not up to date

Python names are the names of the header without `SPTILE_` or `sptile_`; those of structs are in CamelCase. Reads the
subset of C in which the headers are written: enums with values, structs of scalars, pointers, structs and arrays.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

SCALARS = {
    "int": "c_int", "int32_t": "c_int32", "int64_t": "c_int64", "uint64_t": "c_uint64", "size_t": "c_size_t",
    "double": "c_double", "sptile_status": "c_int", "void": "None",
}  # fmt: skip


class Field(NamedTuple):
    """A field of a struct, or a parameter. `count` is the number of elements of an array."""

    kind: str
    name: str
    count: str = ""


class Header:
    """The declarations of a header: enumerators, numbers of macros, structs, callbacks and functions, in its order."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        macros = re.sub(r"\\\n", " ", text)
        self.numbers = re.findall(r"#define SPTILE_(\w+) (\d+)", macros)
        self.enums = {
            name: re.findall(r"SPTILE_(\w+)\s*=\s*(\d+)", body)
            for name, body in re.findall(r"typedef enum (\w+) \{(.*?)\}", text, flags=re.DOTALL)
        }
        bodies = re.findall(r"typedef struct (\w+) \{(.*?)\} \w+;", text, flags=re.DOTALL)
        self.structs = {name: [*fields_of(body)] for name, body in bodies}
        self.defaults = {
            f"sptile_{name.lower()}": re.sub(r"\{[^{}]*(\{[^{}]*\}[^{}]*)*\}", "0", value).split(",")
            for name, value in re.findall(r"#define SPTILE_(\w+)_INIT\s*\{(.*)\}", macros)
        }
        prototype = r"^(?!typedef)((?:const )?\w+\*?) (sptile_\w+)\((.*?)\);"
        self.functions = re.findall(prototype, text, flags=re.DOTALL | re.MULTILINE)
        self.callbacks = re.findall(r"typedef (\w+) \(\*(sptile_\w+)\)\((.*?)\);", text, flags=re.DOTALL)


def fields_of(body: str) -> list[Field]:
    """Returns the fields of a struct. A declaration may have several names: `int64_t rows, cols;`."""
    found = []
    for declaration in filter(None, (" ".join(part.split()) for part in body.split(";"))):
        kind, names = re.fullmatch(r"((?:const )?\w+\*?) (.*)", declaration).groups()  # type: ignore[union-attr]
        for name in names.split(", "):
            name, _, count = name.partition("[")
            found.append(Field(kind, name, count.rstrip("]").removeprefix("SPTILE_")))
    return found


def parameters_of(text: str) -> list[str]:
    """Returns the types of the parameters of a function."""
    text = " ".join(text.split())
    return [] if text == "void" else [part.rpartition(" ")[0] for part in text.split(", ")]


def filled(words: list[str], indent: str, later: str | None = None) -> str:
    """Joins words to lines of at most 118 columns."""
    lines = [indent + words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) < 118:
            lines[-1] += " " + word
        else:
            lines.append((indent if later is None else later) + word)
    return "\n".join(lines)


def enumerators(name: str, members: list[tuple[str, str]]) -> str:
    names, values = zip(*members)
    return f"# {name}\n{', '.join(names)} = {', '.join(values)}"


def class_name(struct: str) -> str:
    words = struct.removeprefix("sptile_").removeprefix("tools_").split("_")
    return "".join(word.capitalize() for word in words)


class Ctypes:
    """Writes the module of a header. `known` are the structs of the headers that it includes."""

    def __init__(self, header: Header, known: Header | None = None) -> None:
        self.header, self.known = header, known
        self.structs = {*header.structs, *(known.structs if known else ())}
        self.callbacks = [name for _, name, _ in header.callbacks]

    def kind(self, kind: str, is_parameter: bool = False) -> str:
        """Returns the ctypes expression of a C type. Opaque handles are void pointers."""
        base = kind.removeprefix("const ").rstrip("*")
        stars = kind.count("*")
        if stars == 0:
            return SCALARS.get(base) or (class_name(base) if base in (*self.structs, *self.callbacks) else "c_int")
        if base == "char":
            return "POINTER(c_char_p)" if stars == 2 else "c_char_p"
        if stars == 2:
            return "POINTER(c_void_p)"
        if base in self.structs:
            return f"POINTER({class_name(base)})"
        return f"POINTER({SCALARS[base]})" if is_parameter and SCALARS.get(base, "None") != "None" else "c_void_p"

    def struct(self, name: str, fields: list[Field]) -> str:
        """Returns a class; structs that start with their size set it."""
        lines = [f"class {class_name(name)}({'Sized' if fields[0].name == 'size' else 'Structure'}):"]
        values = self.header.defaults.get(name, [])
        given = {field.name: float(value) for field, value in zip(fields[1:], values[1:]) if re.search(r"[1-9]", value)}
        if given:
            lines.append(f"    _defaults_ = {given!r}".replace("'", '"'))
        kinds = [self.kind(field.kind) + (f" * {field.count}" if field.count else "") for field in fields]
        members = [f'("{field.name}", {kind}),' for field, kind in zip(fields, kinds)]
        return "\n".join([*lines, "    _fields_ = [", filled(members, " " * 8), "    ]"])

    def signature(self, result: str, name: str, parameters: str) -> str:
        kinds = ", ".join(self.kind(kind, True) for kind in parameters_of(parameters))
        return filled(f'"{name}": ({self.kind(result)}, [{kinds}]),'.split(" "), " " * 4, " " * 8)

    def text(self) -> str:
        header = self.header
        enums = [*header.enums.items(), *(("numbers", [number]) for number in header.numbers)]
        blocks = ["\n".join(map(enumerators, *zip(*enums)))]
        for result, name, parameters in header.callbacks:
            kinds = ", ".join(self.kind(kind) for kind in [result, *parameters_of(parameters)])
            blocks.append(f"{class_name(name)} = CFUNCTYPE({kinds})")
        classes = [self.struct(name, fields) for name, fields in header.structs.items()]
        signatures = "\n".join(self.signature(*function) for function in header.functions)
        table = f"SIGNATURES: dict[str, tuple[Any, list[Any]]] = {{\n{signatures}\n}}\n"
        body = "\n\n".join(blocks) + "\n\n\n" + "\n\n\n".join([*classes, table])
        return self.imports(body) + body

    def imports(self, body: str) -> str:
        names = ("CFUNCTYPE", "POINTER", "Structure", *dict.fromkeys(v for v in SCALARS.values() if v != "None"), "c_char_p", "c_void_p")
        used = sorted(name for name in names if re.search(rf"\b{name}\b", body))
        others = [class_name(name) for name in self.known.structs if re.search(rf"\b{class_name(name)}\b", body)] if self.known else []
        shared = f"from ._core import {', '.join(sorted(others))}\n" if others else ""
        summary = f"Constants, structs and signatures of {self.header.name}, which documents them. Generated by declare.py."
        from_ctypes = filled(f"from ctypes import ({', '.join(used)})".split(" "), "", "    ")
        return f'"""{summary}"""\n\nfrom __future__ import annotations\n\n{from_ctypes}\nfrom typing import Any\n\n{shared}from ._struct import Sized\n\n'


def layout(header: Header) -> str:
    """Returns a C program that prints `struct size` and `  field offset size` lines."""
    lines = []
    for name, fields in header.structs.items():
        lines.append(f'  printf("{name} %zu\\n", sizeof({name}));')
        lines += [
            f'  printf("  {field.name} %zu %zu\\n", offsetof({name}, {field.name}), sizeof((({name}*)0)->{field.name}));'
            for field in fields
        ]
    return f'#include <stddef.h>\n#include <stdio.h>\n\n#include "{header.name}"\n\nint main(void) {{\n' + "\n".join(lines) + "\n  return 0;\n}\n"


def main() -> int:
    mode, source, target = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    header = Header(source)
    if mode == "layout":
        target.write_text(layout(header))
        return 0
    base = Path(__file__).resolve().parents[1] / "include" / "sptile.h"
    text = Ctypes(header, None if source.name == base.name else Header(base)).text()
    if mode == "ctypes":
        target.write_text(text)
    elif target.read_text() != text:
        print(f"{target} is not up to date; run {sys.argv[0]} ctypes {source} {target}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
