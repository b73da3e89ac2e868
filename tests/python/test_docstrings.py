"""Each public name has a numpydoc docstring with all sections that apply; its examples run; the reference has it."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import ROOT, command, has_torch

HAS_TORCH = has_torch()


def _generator() -> ModuleType:
    path = ROOT / "tools" / "site" / "python_reference.py"
    spec = importlib.util.spec_from_file_location("python_reference", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


reference = _generator()
MODULES = reference.MODULES if HAS_TORCH else ("sptile", "sptile.linalg")
ENTRIES = list(reference.entries(MODULES))
by_name = pytest.mark.parametrize("entry", ENTRIES, ids=[entry.name for entry in ENTRIES])


def _names(text: str) -> set[str]:
    """The names that a section describes: an item may have several."""
    return {name.strip().lstrip("*") for item in reference.items(text) for name in item[0].split(",")}


def _needed(entry: Any) -> set[str]:
    """Sections that apply to a name."""
    signature = entry.signature()
    if signature is None:
        has_fields = hasattr(entry.value, "_fields") or hasattr(entry.value, "__dataclass_fields__")
        is_record = has_fields or entry.value.__name__ in reference.RETURNED if entry.is_class else False
        return {"Examples", "Attributes"} if is_record else {"Examples"}
    needed = {"Examples"}
    source = inspect.getsource(entry.value.__init__ if entry.is_class else entry.value)
    if signature.parameters:
        needed.add("Parameters")
    if not entry.is_class and signature.return_annotation not in ("None", None):
        needed.add("Returns")
    if re.search(r"^ +raise ", source, flags=re.MULTILINE):
        needed.add("Raises")
    if "warnings.warn(" in source:
        needed.add("Warns")
    return needed


@by_name
def test_docstrings_have_all_sections_that_apply(entry: Any) -> None:
    found = reference.sections(entry.doc)
    summary = found[""].splitlines()[0] if found[""] else ""
    assert summary.endswith("."), "the first line of a docstring is a sentence"
    known = ["", "Parameters", "Attributes", "Returns", "Raises", "Warns", "Notes", "Examples"]
    assert [name for name in found if name not in known] == []
    assert sorted(found, key=known.index) == list(found), "sections are in the order of numpydoc"
    assert _needed(entry) - set(found) == set()
    assert ">>> " in found["Examples"]
    signature = entry.signature()
    if signature is not None and signature.parameters:
        assert _names(found["Parameters"]) == {p.lstrip("*") for p in signature.parameters}


def test_private_and_inherited_names_are_not_entries() -> None:
    names = [entry.name for entry in ENTRIES]
    assert len(names) == len(set(names)) > 40
    assert not [name for name in names if name.rpartition(".")[2].startswith("_") and not name.endswith(".__call__")]
    assert not [name for name in names if name.endswith((".extra_repr", ".state_dict"))]


# ---- Examples ----


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a partition into one part, where the command is there."""
    made = tmp_path_factory.mktemp("examples")
    if program := command():
        matrix = ROOT / "data" / "examples" / "fem_plate.mtx"
        call = [program, "partition", matrix, "--parts", "1", "-o", made / "parts"]
        subprocess.run(call, check=True, capture_output=True)
    return made


@pytest.fixture
def workplace(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory of an example: it has the data and the partition."""
    (tmp_path / "data").symlink_to(ROOT / "data")
    (tmp_path / "parts").symlink_to(folder / "parts")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def process_group() -> Iterator[None]:
    """A process group of this process alone."""
    dist = pytest.importorskip("torch.distributed")
    if dist.is_initialized():
        pytest.skip("another test left a process group")
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def _run(text: str, name: str) -> str:
    """Runs examples; returns what differs."""
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    assert test.examples, name
    told: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=told.append)
    return "".join(told)


@pytest.mark.filterwarnings("ignore")
@by_name
def test_examples_run(entry: Any, workplace: Path, request: pytest.FixtureRequest) -> None:
    if '"parts' in entry.doc and not (workplace / "parts").exists():
        pytest.skip("the sptile command is not there: set SPTILE_COMMAND")
    if ".distributed" in entry.name:
        request.getfixturevalue("process_group")
    assert _run(entry.doc, entry.name) == ""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("module", MODULES)
@pytest.mark.usefixtures("workplace")
def test_examples_of_modules_run(module: str, request: pytest.FixtureRequest) -> None:
    doc = inspect.getdoc(importlib.import_module(module)) or ""
    if ">>>" not in doc:
        assert module.endswith(".nn")
        return
    if ".distributed" in module:
        request.getfixturevalue("process_group")
    assert _run(doc, module) == ""


# ---- The page ----


@pytest.mark.skipif(not HAS_TORCH, reason="torch is not installed")
def test_the_reference_is_current() -> None:
    assert reference.PAGE.read_text() == reference.page(), f"run {Path(reference.__file__).relative_to(ROOT)}"


def test_the_reference_has_every_public_name() -> None:
    headings = [line.lstrip("# ") for line in reference.PAGE.read_text().splitlines() if line.startswith("###")]
    missing = [
        entry.name
        for entry in ENTRIES
        if (entry.name.removeprefix("sptile.") if entry.is_member else entry.name) not in headings
    ]
    assert missing == []
