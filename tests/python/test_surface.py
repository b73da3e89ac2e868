"""Signatures, completion, classes of errors, spellings of types, operators and the command of the package."""

from __future__ import annotations

import copy
import importlib
import inspect
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import command, has_torch, random_csr, random_dense
from sptile import _config, _options, errors

import sptile

HAS_TORCH = has_torch()
MODULES = ("sptile", "sptile.linalg")
if HAS_TORCH:
    MODULES += ("sptile.torch", "sptile.torch.nn", "sptile.torch.sparse", "sptile.torch.distributed")


def callables() -> list[Any]:
    """Public functions, and public methods of public classes."""
    found: list[Any] = []
    for module in map(importlib.import_module, MODULES):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isfunction(value):
                found.append(value)
            elif inspect.isclass(value):
                found += [
                    method
                    for member, method in inspect.getmembers(value, callable)
                    if not member.startswith("_") and getattr(method, "__module__", "").startswith("sptile")
                ]
    return found


def test_signatures_name_all_options() -> None:
    found = callables()
    assert len(found) > 40 or not HAS_TORCH
    for one in found:
        kinds = {p.kind for p in inspect.signature(one).parameters.values()}
        assert inspect.Parameter.VAR_KEYWORD not in kinds, one.__qualname__


@pytest.mark.parametrize(
    "function", [sptile.plan, sptile.Bundle.plan, sptile.Bundle.predict, sptile.spmm, sptile.sddmm]
)
def test_options_of_plans_are_keywords_with_their_defaults(function: Any) -> None:
    parameters = inspect.signature(function).parameters
    for name in ("format", "dtype", "device", "threads", "precision"):
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[name].default == _options.DEFAULTS[name]


def test_options_are_declared_described_and_have_defaults() -> None:
    """Attributes that the library adds need no declaration here."""
    names, declared = set(_options.DEFAULTS), set(_options.PlanSettings.__annotations__)
    assert set(_options.OPTIONS_TEXT) == names
    assert declared <= names <= declared | set(_options.PLAN_ATTRIBUTES)


@pytest.mark.parametrize("module", MODULES)
def test_completion_shows_public_names_alone(module: str) -> None:
    loaded = importlib.import_module(module)
    assert set(dir(loaded)) - {"__version__"} == set(loaded.__all__)


# ---- Errors ----


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda A: sptile.plan(A, 16, formt="csr"), TypeError),
        (lambda A: sptile.plan(A, "16"), TypeError),
        (lambda A: sptile.plan(A, 16, device="tpu"), ValueError),
        (lambda A: sptile.plan(A.toarray(), 16), TypeError),
        (lambda A: sptile.plan(A, 16)([1.0]), TypeError),
        (lambda A: sptile.plan(A, 16)(np.ones((3, 3), np.float32)), ValueError),
        (lambda A: sptile.open("missing.h5"), FileNotFoundError),
        (lambda A: sptile.open_part("missing.h5"), FileNotFoundError),
        (lambda A: sptile.read("missing.mtx"), FileNotFoundError),
        (lambda A: sptile.convert("missing.mtx"), FileNotFoundError),
        (lambda A: sptile.open(3), TypeError),
        (lambda A: sptile.convert(A, formats=3), TypeError),
        (lambda A: sptile.block_diag(A), TypeError),
    ],
)
def test_errors_are_also_the_expected_builtin(
    call: Any, kind: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind) as caught:
        call(random_csr(8, 8))
    assert isinstance(caught.value, sptile.Error)


def test_a_missing_file_has_its_error_number() -> None:
    error = errors.error_of(5, "a.h5: No such file or directory")
    assert isinstance(error, sptile.MissingFileError) and error.errno == 2
    assert type(errors.error_of(5, "a.h5: Permission denied")) is sptile.IoError
    assert type(errors.error_of(3, "a.h5: No such file or directory")) is sptile.BadInputError


def test_a_misspelled_option_is_named_with_the_nearest() -> None:
    with pytest.raises(TypeError, match=r"plan\(\) got an unexpected keyword argument 'formt'; .* 'format'\?"):
        sptile.plan(random_csr(8, 8), 16, formt="csr")
    with pytest.raises(TypeError, match=r"spmm\(\) got an unexpected keyword argument 'op'; options are format"):
        sptile.spmm(random_csr(8, 8), random_dense(8, 2), op="sddmm")


def test_a_format_that_is_not_stored_names_the_remedy() -> None:
    with pytest.raises(sptile.Error, match=r"bittcf.*sptile.convert\(A, formats='bittcf'\)"):
        sptile.plan(random_csr(8, 8), 16, format="bittcf", device="cpu")


@pytest.mark.parametrize("kind", [sptile.Plan, sptile.Bundle, sptile.Batch])
def test_constructors_that_are_not_public_name_those_that_are(kind: Any) -> None:
    assert not inspect.signature(kind).parameters
    with pytest.raises(TypeError, match="with sptile.|Bundle.of"):
        kind()


# ---- Types ----


@pytest.mark.parametrize("dtype", ["f32", "float32", np.float32, np.dtype("float32")])
def test_types_have_several_spellings(dtype: Any) -> None:
    A = random_csr(8, 8)
    assert sptile.plan(A, 2, dtype=dtype).dtype == "float32"
    assert sptile.convert(A, formats="csr", dtype=dtype).dtype == np.float32


@pytest.mark.skipif(not HAS_TORCH, reason="torch is not installed")
@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
def test_types_of_torch_have_the_same_spellings(name: str) -> None:
    import torch

    import sptile.torch as st
    from sptile import _arrays

    own = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}[name]
    assert _arrays.dtype_code(own) == _arrays.dtype_code(name) == _arrays.dtype_code(str(own))
    A = st.SparseMatrix.from_torch(torch.eye(3))
    assert A.to(dtype=name).dtype == A.gcn_norm(dtype=name).dtype == own
    assert st.nn.SparseLinear.from_linear(torch.nn.Linear(3, 3), dtype=name).values.dtype == own


@pytest.mark.parametrize("layout", ["csr", "coo", "csc", "lil", "bsr", "dia"])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64])
def test_booleans_and_integers_are_planned(dtype: Any, layout: str) -> None:
    dense = (np.arange(48).reshape(6, 8) % 5).astype(dtype)
    A = sp.csr_array(dense).asformat(layout)
    B = random_dense(8, 3)
    assert np.allclose(sptile.plan(A, 3) @ B, dense.astype(np.float32) @ B)
    assert np.allclose(sptile.Bundle.of(A) @ B, dense.astype(np.float32) @ B)
    assert np.allclose(sptile.spmm(A, B.astype(np.float64)), dense.astype(np.float64) @ B)


def test_repeated_booleans_are_counted() -> None:
    A = sp.coo_array((np.ones(3, bool), ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert np.array_equal(sptile.Bundle.of(A) @ np.ones(2, np.float32), [2, 1])


def test_integers_that_do_not_fit_are_counted_in_a_warning() -> None:
    A = sp.csr_array(np.array([[2**24 + 1, 1]]))
    with pytest.warns(RuntimeWarning, match="float32 cannot represent 1 of 2 int64 values"):
        sptile.plan(A, 1)
    assert sptile.plan(A, 1, dtype="f64") @ np.ones(2) == 2**24 + 2


@pytest.mark.skipif(not HAS_TORCH, reason="torch is not installed")
def test_integers_of_torch_are_planned() -> None:
    import torch

    A = torch.tensor([[0, 2], [3, 0]]).to_sparse_csr()
    assert torch.equal(sptile.plan(A, 1) @ torch.ones(2), torch.tensor([2.0, 3.0]))


# ---- Operators ----


def test_plans_and_bundles_multiply_with_an_operator() -> None:
    A, B = random_csr(9, 7), random_dense(7, 4)
    bundle = sptile.Bundle.of(A)
    plan = bundle.plan(4)
    assert np.array_equal(plan @ B, plan(B))
    assert np.allclose(bundle @ B, A @ B)
    assert np.allclose(bundle @ B[:, 0], A @ B[:, 0])
    with pytest.raises(TypeError):
        B.T @ plan
    with pytest.raises(TypeError):
        B.T @ bundle
    with pytest.raises(sptile.UsageError, match="B must be float16"):
        bundle @ B.astype(np.int32)


def test_a_bundle_keeps_the_plans_of_its_products() -> None:
    bundle, B = sptile.Bundle.of(random_csr(9, 7)), random_dense(7, 4)
    first = bundle @ B
    (plans,) = bundle._products.values()
    kept = dict(plans)
    assert np.array_equal(bundle @ B, first) and plans == kept
    for twin in (copy.deepcopy(bundle), pickle.loads(pickle.dumps(bundle))):
        assert twin._products == {} and np.array_equal(twin @ B, first)
    bundle.close()
    with pytest.raises(sptile.UsageError, match="closed"):
        bundle @ B


# ---- Configuration and command ----


def test_the_configuration_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert sptile.show_config() is None
    printed = capsys.readouterr().out
    found = sptile.show_config(mode="dicts")
    assert found is not None and found["packages"]["numpy"] == np.__version__
    for name, value in found.items():
        assert name in printed
        assert isinstance(value, dict) or value is None or value in printed
    with pytest.raises(sptile.UsageError, match="mode must be one of 'stdout', 'dicts'"):
        sptile.show_config(mode="json")


def run_module(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sptile", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_module_runs_the_command() -> None:
    program = command()
    if program is None:
        pytest.skip("the sptile command is not there: set SPTILE_COMMAND")
    assert run_module("--version", SPTILE_COMMAND=program).stdout == f"sptile {sptile.__version__}\n"
    assert run_module("doctor", SPTILE_COMMAND=program).stdout.startswith("versions\n")
    assert run_module("no-such-verb", SPTILE_COMMAND=program).returncode == 2


def test_a_missing_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_config.sysconfig, "get_path", lambda *_: str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("SPTILE_COMMAND", str(tmp_path / "missing"))
    assert _config.find_command() is None
    program = tmp_path / "sptile"
    program.touch(mode=0o755)
    assert _config.find_command() == str(program)
