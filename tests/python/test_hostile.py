"""Calls with arrays that do not fit are refused, and touch no memory beyond that of their arrays."""

from __future__ import annotations

import importlib.util

import pytest
from hostile import run_child

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")


@needs_torch
def test_every_operator_has_a_row_and_a_call() -> None:
    import hostile_operators
    import torch

    from sptile.torch.operands import OPERANDS

    names = torch._C._dispatch_get_all_op_names()
    registered = {name.removeprefix("sptile::") for name in names if name.startswith("sptile::")}
    a = hostile_operators.matrices()["sorted"]
    called = {name.split(" [")[0] for name in hostile_operators.calls(a, torch.float32)}
    assert registered == set(OPERANDS) == called


@needs_torch
def test_operators_refuse_tensors_that_do_not_fit() -> None:
    assert run_child("hostile_operators.py") > 5000


def test_plans_refuse_arrays_that_do_not_fit() -> None:
    assert run_child("hostile_plans.py") > 2000
