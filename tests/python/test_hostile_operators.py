"""Operators sptile::* refuse tensors that do not fit, and touch no memory beyond those that do."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import hostile_operators  # noqa: E402

import sptile.torch.compiled  # noqa: E402
from sptile.torch.operands import OPERANDS  # noqa: E402

HERE = Path(__file__).parent


def registered() -> set[str]:
    """Names of all operators that torch's dispatcher has of sptile."""
    names = torch._C._dispatch_get_all_op_names()
    return {name.removeprefix("sptile::") for name in names if name.startswith("sptile::")}


def test_every_operator_has_a_row_and_a_call() -> None:
    a = hostile_operators.matrices()["sorted"]
    called = {name.split(" [")[0] for name in hostile_operators.calls(a, torch.float32)}
    assert registered() == set(OPERANDS) == called


def test_operators_refuse_what_does_not_fit() -> None:
    """With -O, where an assert checks nothing."""
    with tempfile.TemporaryFile() as at:
        command = [sys.executable, "-O", "-W", "ignore", "hostile_operators.py", str(at.fileno())]
        child = subprocess.run(
            command, cwd=HERE, capture_output=True, text=True, timeout=300, pass_fds=[at.fileno()], check=False,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        at.seek(0)
        assert child.returncode == 0, f"{at.read().decode()!r} was the last call\n{child.stdout}{child.stderr[-3000:]}"
    assert int(child.stdout.split()[0]) > 5000
