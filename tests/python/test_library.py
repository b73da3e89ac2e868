"""Declarations of the C interface, the search for the library, and the cost of the import."""

import ast
import ctypes
import re
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, run_python
from sptile import _arrays, _core, _library, errors


def structs() -> dict[str, type[ctypes.Structure]]:
    """The structs of `_core` by their names in the header."""
    return {
        "sptile_" + re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower(): kind
        for name, kind in vars(_core).items()
        if isinstance(kind, type) and issubclass(kind, ctypes.Structure) and kind.__module__ == _core.__name__
    }


def test_structs_have_the_layout_of_the_c_compiler() -> None:
    """tests/install compares the same list with the header."""
    functions, layout = (ROOT / "tests/install/abi.txt").read_text().split("\n\n")
    lines = []
    for struct, kind in structs().items():
        lines.append(f"{struct} {ctypes.sizeof(kind)}")
        for name, *_ in kind._fields_:
            place = getattr(kind, name)
            lines.append(f"  {name} {place.offset} {place.size}")
    assert lines == layout.splitlines()
    assert sorted(_core.SIGNATURES) == functions.splitlines()


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


def test_attribute_of_the_library_is_an_argument() -> None:
    """tests/exercise adds an operation with the attribute `shift`, without an edit of the package."""
    library = Path(_library.lib._name).resolve().parents[1] / "tests/exercise/libexercise.so"
    if not library.exists():
        pytest.skip(f"{library} was not built")
    code = """
import inspect, numpy as np, scipy.sparse, sptile
A = scipy.sparse.csr_array(np.array([[1, 1], [0, 1]], np.float32))
X, Y = np.float32([[1], [2]]), np.float32([[10], [20]])
print(*(sptile.plan(A, 1, op="edge_add", shift=shift).run(X, Y) for shift in (0, -3)))
print(inspect.signature(sptile.plan).parameters["shift"].default)
print("Number added to each sum" in sptile.plan.__doc__)
try:
    sptile.plan(A, 1, op="edge_add", shift=1001)
except sptile.UsageError as error:
    print(error)
"""
    done = run_python(code, SPTILE_LIBRARY=str(library))
    assert done.stdout.splitlines() == [
        "[11. 21. 22.] [ 8. 18. 19.]", "0", "True", "shift must be from -1000 to 1000, got 1001"
    ], done.stderr  # fmt: skip


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
    assert _arrays.list_address(fits, _library.DTYPE_I32, 5, "ids") == fits.ctypes.data
    with pytest.raises(errors.UsageError, match="ids"):
        _arrays.list_address(array, _library.DTYPE_I32, 5, "ids")


def test_memory_is_measured_by_what_an_array_is_not_by_what_it_says() -> None:
    class Lying:
        itemsize = 8
        __cuda_array_interface__ = {"version": 3, "shape": (16,), "typestr": "|u1", "data": (64, False)}
        device = type("Device", (), {"id": 0})

    assert _arrays.view(Lying(), "workspace").itemsize == 1
