"""The package is typed: mypy accepts it, and a program that uses it."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
import sptile

if importlib.util.find_spec("mypy") is None:
    pytest.skip("mypy is not installed", allow_module_level=True)

PROGRAM = """
import numpy as np
import sptile
from typing_extensions import assert_type

bundle = sptile.open("a.h5", copy=True)
plan = bundle.plan(16, op="spmm", device="cpu")
assert_type(bundle, sptile.Bundle)
assert_type(plan, sptile.Plan)
assert_type(plan.shape, tuple[int, int])
assert_type(plan.kernel, str)
C = plan(np.ones((4, 16)), out=None, alpha=2)
plan.refresh(np.ones(3))
assert_type(sptile.plan("a.h5", 16, format="csr", dtype="f32"), sptile.Plan)
best: list[str] = [p.format for p in bundle.predict(16) if p.chosen]
"""


def mypy(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Finds the package where Python does: installed, or beside the sources."""
    package = Path(str(sptile.__file__)).parent
    installed = "site-packages" in package.parts
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *arguments],
        cwd=cwd,
        env={**os.environ, "MYPYPATH": "" if installed else str(package.parent)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_package_is_strict(tmp_path: Path) -> None:
    assert sptile.__file__ is not None
    package = Path(sptile.__file__).parent
    assert (package / "py.typed").exists()
    names = ["sptile" if path.stem == "__init__" else f"sptile.{path.stem}" for path in sorted(package.glob("*.py"))]
    modules = [word for name in names for word in ("-m", name)]
    checked = mypy("--cache-dir", str(tmp_path), *modules, cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout


def test_a_program_is_checked(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(PROGRAM)
    bad.write_text(PROGRAM + "plan.kernel + 1\nbundle.plan('many')\nbundle.plan(16, formt='csr')\n")
    checked = mypy("good.py", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout
    assert "Found 3 errors" in mypy("bad.py", cwd=tmp_path).stdout
