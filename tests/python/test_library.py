"""What mirrors the header agrees with it; how the library is found; what importing costs."""

import ast
import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, run_python
from sptile import _arrays, _library, errors
from sptile._operations import OPERATIONS, Operand

RUNTIME = ROOT / "runtime"
HEADER = RUNTIME / "include" / "sptile.h"


def structs() -> dict[str, type[ctypes.Structure]]:
    """The mirrored structs by their names in the header."""
    return {
        "sptile_" + re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower(): kind
        for name, kind in vars(_library).items()
        if isinstance(kind, type)
        and issubclass(kind, ctypes.Structure)
        and not name.startswith("_")
        and kind.__module__ == _library.__name__
    }


def enumerators() -> dict[str, int]:
    """The mirrored enumerators by their names in the header, which begin with the name of their type."""
    source = Path(str(_library.__file__)).read_text()
    found = {"SPTILE_MAX_OPERANDS": _library.MAX_OPERANDS}
    for kind, names in re.findall(r"^# sptile_(\w+)\n([\w, ]+) =", source, flags=re.M):
        prefix = kind.upper() + "_"
        for name in names.split(", "):
            found["SPTILE_" + prefix + name.removeprefix(prefix)] = getattr(_library, name)
    return found


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """What a C compiler says: sizes, offsets and enumerators by name."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        pytest.skip("no C compiler")
    facts = [f"sizeof({struct})" for struct in structs()]
    facts += [
        f"offsetof({struct}, {field[0]})" for struct, kind in structs().items() for field in kind._fields_
    ]
    facts += [
        f"sizeof((({struct}*)0)->{field[0]})" for struct, kind in structs().items() for field in kind._fields_
    ]
    facts += enumerators()
    lines = [f'printf("%s=%lld\\n", "{fact}", (long long)({fact}));' for fact in facts]
    folder = tmp_path_factory.mktemp("header")
    source = folder / "facts.c"
    source.write_text(
        '#include <stdio.h>\n#include "sptile.h"\nint main(void) {\n' + "\n".join(lines) + "\nreturn 0;}\n"
    )
    subprocess.run([compiler, "-I", HEADER.parent, source, "-o", folder / "facts"], check=True)
    output = subprocess.run([folder / "facts"], check=True, capture_output=True, text=True).stdout
    return {name: int(value) for name, value in (line.rsplit("=", 1) for line in output.splitlines())}


def test_structs_have_the_layout_of_the_header(compiled: dict[str, int]) -> None:
    for struct, kind in structs().items():
        assert compiled[f"sizeof({struct})"] == ctypes.sizeof(kind), struct
        for field in kind._fields_:
            descriptor = getattr(kind, field[0])
            assert compiled[f"offsetof({struct}, {field[0]})"] == descriptor.offset, (struct, field)
            assert compiled[f"sizeof((({struct}*)0)->{field[0]})"] == descriptor.size, (struct, field)


def test_enumerators_have_the_values_of_the_header(compiled: dict[str, int]) -> None:
    for name, value in enumerators().items():
        assert compiled[name] == value, name


def test_nothing_of_the_header_is_missing() -> None:
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
    declared = set(re.findall(r"^(?:int|void|const char\*|sptile_status) (sptile_\w+)\(", text, flags=re.M))
    assert declared == set(_library._SIGNATURES)
    opaque = {"sptile_matrix", "sptile_part", "sptile_plan"}
    assert set(re.findall(r"typedef struct (sptile_\w+) ", text)) - opaque == set(structs())
    bodies = re.findall(r"typedef enum \w+ \{(.*?)\}", text, flags=re.S)
    named = {name for body in bodies for name in re.findall(r"(SPTILE_\w+) =", body)}
    assert named == set(enumerators()) - {"SPTILE_MAX_OPERANDS"}


def operands_in(source: str) -> tuple[Operand, ...]:
    """The operands that a row of the C++ table has, as Python has them."""
    fields = ("name", "extent", "result", "width", "optional", "shared", "element")
    table = source.split("kOperands[] = {", 1)[1].split("};", 1)[0]
    rows = []
    for row in re.findall(r"\{(.*?)\}", table, flags=re.S):
        values: dict[str, Any] = {}
        for field, part in zip(fields, row.split(","), strict=False):
            key, _, value = part.strip().rpartition("=")
            word = value.strip().split("::")[-1].strip('"')
            values[key.strip(" .") or field] = {"true": True, "false": False}.get(word, word)
        rows.append(Operand(**values))
    return tuple(rows)


def test_operations_are_those_of_the_library() -> None:
    found = {}
    for path in (RUNTIME / "operation").glob("*.cpp"):
        if named := re.search(r'constexpr Operation \w+ = \{\.name = "(\w+)"', text := path.read_text()):
            found[named[1]] = operands_in(text)
    assert found == OPERATIONS


def test_defaults_are_those_of_the_header() -> None:
    operands = _library.Operands()
    assert (operands.size, operands.alpha, operands.beta) == (ctypes.sizeof(operands), 1, 0)
    assert _library.PlanOptions().size == ctypes.sizeof(_library.PlanOptions)


@pytest.mark.parametrize(
    ("kind", "builtin", "status"),
    [
        (errors.UsageError, ValueError, 2),
        (errors.BadInputError, ValueError, 3),
        (errors.UnsupportedError, NotImplementedError, 4),
        (errors.IoError, OSError, 5),
        (errors.DeviceError, RuntimeError, 6),
        (errors.CheckError, AssertionError, 7),
        (errors.InternalError, RuntimeError, 70),
    ],
)
def test_errors_are_builtins_too(kind: type[errors.Error], builtin: type[Exception], status: int) -> None:
    error = errors.error_of(status, "why")
    assert type(error) is kind
    assert isinstance(error, builtin) and isinstance(error, errors.Error)
    assert error.status == status and str(error) == "why"


def test_an_unknown_status_is_an_internal_error() -> None:
    assert isinstance(errors.error_of(1234, "?"), errors.InternalError)


def test_a_failing_call_raises_with_the_message_of_the_library() -> None:
    with pytest.raises(errors.UsageError, match="sptile_plan_describe: plan is NULL"):
        _library.check(_library.lib.sptile_plan_describe(None, ctypes.byref(_library.PlanInfo())))


def test_the_variable_alone_names_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPTILE_LIBRARY", "/nowhere/lib.so")
    assert list(_library.candidates("libsptile.so.0", "SPTILE_LIBRARY")) == ["/nowhere/lib.so"]
    failed = run_python("import sptile", SPTILE_LIBRARY="/nowhere/lib.so")
    assert failed.returncode == 1
    assert "ImportError" in failed.stderr and "set SPTILE_LIBRARY" in failed.stderr


def test_what_a_wheel_installs_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPTILE_LIBRARY", raising=False)
    monkeypatch.setattr(_library, "__file__", str(tmp_path / "sptile" / "_library.py"))
    for name in (
        ".sptile.mesonpy.libs/libsptile.so.0",
        "sptile.libs/libsptile-1234abcd.so.0",
        ".sptile.mesonpy.libs/libsptile-tools.so.0",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert list(_library.candidates("libsptile.so.0", "SPTILE_LIBRARY")) == [
        str(tmp_path / ".sptile.mesonpy.libs/libsptile.so.0"),
        str(tmp_path / "sptile.libs/libsptile-1234abcd.so.0"),
        "libsptile.so.0",
    ]


def test_a_library_without_the_interface_is_refused() -> None:
    failed = run_python("import sptile", SPTILE_LIBRARY="libm.so.6")
    assert "has no sptile_abi_version; it is older than this package" in failed.stderr


def test_importing_is_light() -> None:
    """No framework, and few modules beside those that Python has anyway: what takes time in an import."""
    code = (
        "import sys, ctypes, typing; before = set(sys.modules); import sptile; new = set(sys.modules) - before\n"
        "print(sorted(m for m in new if not m.startswith('sptile')))"
    )
    run = run_python(code)
    assert run.returncode == 0, run.stderr
    new = ast.literal_eval(run.stdout)
    assert not {"numpy", "scipy", "torch", "cupy"} & set(new)
    assert len(new) < 30, new


def test_plans_need_no_scipy() -> None:
    code = "import sptile, sys; sptile.Bundle, sptile.spmm; print({'scipy', 'torch'} & set(sys.modules))"
    assert run_python(code).stdout == "set()\n"


def test_names_of_the_package() -> None:
    import sptile

    for name in sptile.__all__:
        assert getattr(sptile, name) is not None
    assert callable(sptile.plan) and callable(sptile.spmm)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        sptile.nothing  # noqa: B018


def test_numbers_that_do_not_fit_a_field_are_refused() -> None:
    with pytest.raises(errors.UsageError, match="threads = 4294967297 does not fit"):
        _library.PlanOptions(threads=2**32 + 1)
    assert _library.PlanOptions(n=2**40).n == 2**40


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(4, np.int32),
        np.zeros(5, np.int64),
        np.zeros((5, 1), np.int32),
        np.zeros(10, np.int32)[::2],
        np.zeros(21, np.uint8)[1:].view(np.int32),
        [0, 0, 0, 0, 0],
    ],
    ids=["short", "wide", "two dimensions", "gaps", "misaligned", "a list"],
)
def test_only_lists_that_fit_have_an_address(array: object) -> None:
    fits = np.zeros(5, np.int32)
    assert _arrays.list_address(fits, _library.I32, 5, "ids") == fits.ctypes.data
    with pytest.raises(errors.UsageError, match="ids"):
        _arrays.list_address(array, _library.I32, 5, "ids")


def test_memory_is_measured_by_what_an_array_is_not_by_what_it_says() -> None:
    class Lying:
        itemsize = 8
        __cuda_array_interface__ = {"version": 3, "shape": (16,), "typestr": "|u1", "data": (64, False)}
        device = type("Device", (), {"id": 0})

    assert _arrays.view(Lying(), "workspace").itemsize == 1
