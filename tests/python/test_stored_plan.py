"""Plans that `sptile plan` stored for the CPU."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import command, make_bundle, random_dense

import sptile


@pytest.fixture
def planned_path(small: sp.csr_array, tmp_path: Path) -> Path:
    path = make_bundle(small, tmp_path / "planned.h5")
    options = ["-n", "8", "--device", "cpu", "--threads", "1", "--format", "bittcf"]
    subprocess.run([command() or "sptile", "plan", path, *options], check=True, capture_output=True)
    return path


def test_stored_plan_decides_the_format(small: sp.csr_array, planned_path: Path) -> None:
    plan = sptile.open(planned_path).plan(8, threads=1)
    assert plan.stored
    assert plan.format == "bittcf"
    B = random_dense(small.shape[1], 8)
    made = sptile.open(planned_path).plan(8, threads=1, format="bittcf", kernel=plan.kernel, replan=True)
    assert not made.stored
    np.testing.assert_array_equal(plan(B), made(B))


def test_stored_plan_is_for_its_threads_and_columns(planned_path: Path) -> None:
    bundle = sptile.open(planned_path)
    assert not bundle.plan(8, threads=2).stored
    assert not bundle.plan(7, threads=1).stored
