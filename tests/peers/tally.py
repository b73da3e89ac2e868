"""Counts of the products that were compared with those of another project."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import sptile

counts: Counter[str] = Counter()
_shown: list[str] = []
_MOST_SHOWN = 40


def compare(what: str, found: Callable[[], Any], expected: Any, tolerance: float, scale: Any = None) -> None:
    """Counts `found()`, an array, as right, refused (a `sptile.Error`), wrong or a crash. Errors are relative to `scale`,
    the sums of absolute products; None: to the largest element."""
    try:
        array = np.asarray(found())
    except (sptile.Error, NotImplementedError) as error:
        _count("refused", f"{what}: {error}")
        return
    except Exception as error:
        _count("crashes", f"{what}: {type(error).__name__}: {error}")
        return
    largest = np.abs(expected if scale is None else scale).max(initial=0.0)
    same = array.shape == expected.shape and np.allclose(
        array, expected, rtol=tolerance, atol=tolerance * (largest if np.isfinite(largest) else 1.0), equal_nan=True
    )
    _count("right" if same else "wrong", f"{what}: another result")


def _count(verdict: str, message: str) -> None:
    counts[verdict] += 1
    if verdict in ("wrong", "crashes") and len(_shown) < _MOST_SHOWN:
        _shown.append(f"{verdict}: {message}")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for line in _shown:
        terminalreporter.write_line(line)
    terminalreporter.write_line(", ".join(f"{counts[name]} {name}" for name in ("right", "refused", "wrong", "crashes")))


def pytest_sessionfinish(session: Any) -> None:
    session.exitstatus = 1 if counts["wrong"] or counts["crashes"] or not counts["right"] else 0
