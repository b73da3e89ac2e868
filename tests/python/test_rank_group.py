"""The processes of distributed tests: a rank without progress has its rank, step and stack printed, once per step."""

from __future__ import annotations

import re
import time

import pytest

pytest.importorskip("torch", reason="ranks are processes of torch.distributed")

from rank_group import run_ranks, step, values  # noqa: E402


def slow_in_rank_1(rank: int, seconds: float) -> int:
    step("quick")
    step(f"step {rank}")
    if rank == 1:
        sleep_here(seconds)
    step("last")
    return rank


def sleep_here(seconds: float) -> None:
    time.sleep(seconds)


def test_a_rank_without_progress_is_reported(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPTILE_TEST_WATCHDOG", "2")
    assert values(run_ranks(slow_in_rank_1, 5, size=2)) == [0, 1]
    said = capfd.readouterr().err
    reports = re.findall(r"(?ms)^rank (\d): no progress for 2 s in step: ([^\n]*); stacks:\n(.*?)(?=^rank |\Z)", said)
    steps = {int(rank): step for rank, step, _ in reports}
    assert len(reports) == len(steps) and steps.pop(1) == "step 1", said
    assert steps in ({}, {0: "destroy_process_group"}), said  # it waits for rank 1
    stack = next(stack for rank, _, stack in reports if rank == "1")
    assert "in sleep_here" in stack and "in slow_in_rank_1" in stack, said


def test_ranks_that_make_progress_are_not_reported(capfd: pytest.CaptureFixture[str]) -> None:
    assert values(run_ranks(slow_in_rank_1, 0, size=2)) == [0, 1]
    assert "no progress" not in capfd.readouterr().err
