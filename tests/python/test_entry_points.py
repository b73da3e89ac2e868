"""Every way in gives the same product: each row of ENTRY_POINTS over each matrix of `given`, against float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import missing_cuda
from entry_points import ENTRY_POINTS, EntryPoint
from given import MATRICES, TOLERANCE, Given, numbers

Array = np.ndarray[Any, Any]


def _cases(what: str) -> Any:
    """Way in, device and matrix of each test of `what` that an entry point has."""
    return pytest.mark.parametrize(
        ("entry", "device"),
        [
            pytest.param(entry, device, id=f"{entry.name}, {device}")
            for entry in ENTRY_POINTS
            if getattr(entry, what) is not None
            for device in entry.devices
        ],
    )


def _served(entry: EntryPoint, device: str) -> list[Given]:
    """The matrices that a way in takes, as it takes them."""
    if device == "cuda" and (why := _no_cuda()):
        pytest.skip(why)
    return [
        one.laid(entry.layout)
        for one in MATRICES
        if one.dtype in entry.dtypes
        and (not entry.square or one.shape[0] == one.shape[1])
        and (not entry.sorted or one.is_sorted)
    ]


def _no_cuda() -> str:
    try:
        import torch
    except ImportError:
        return missing_cuda()
    return "" if torch.cuda.is_available() else missing_cuda() or "torch has no CUDA device"


def _check(found: Array, expected: Array, given: Given, scale: float = 1.0) -> None:
    """`scale`: the largest sum of absolute products."""
    assert found.shape == expected.shape, given.name
    room = TOLERANCE[given.dtype or "float32"] * max(scale, 1.0)
    assert np.abs(found - expected).max(initial=0.0) <= room, given.name


@pytest.mark.filterwarnings("ignore")
@_cases("multiply")
def test_product(entry: EntryPoint, device: str) -> None:
    for given in _served(entry, device):
        B = numbers((given.shape[1], 3), 1)
        expected = given.dense() @ B
        scale = float((np.abs(given.dense()) @ np.abs(B)).max(initial=0.0))
        _check(entry.multiply(entry.make(given, device), B), expected, given, scale)


@pytest.mark.filterwarnings("ignore")
@_cases("sddmm")
def test_sddmm_is_in_the_order_of_the_entries(entry: EntryPoint, device: str) -> None:
    for given in _served(entry, device):
        X, Y = numbers((given.shape[0], 4), 2), numbers((given.shape[1], 4), 3)
        expected = (X[given.row] * Y[given.col]).sum(1)
        assert entry.sddmm is not None
        _check(entry.sddmm(entry.make(given, device), X, Y), expected, given, 4.0)


def _softmax(given: Given, scores: Array) -> Array:
    """Over all entries of a row, repeated ones one by one."""
    weights = np.exp(scores)
    return weights / np.bincount(given.row, weights, minlength=given.shape[0])[given.row]


@pytest.mark.filterwarnings("ignore")
@_cases("softmax")
def test_softmax_weighs_each_entry(entry: EntryPoint, device: str) -> None:
    for given in _served(entry, device):
        scores = numbers(len(given.row), 4)
        assert entry.softmax is not None
        _check(entry.softmax(entry.make(given, device), scores), _softmax(given, scores), given)


@pytest.mark.filterwarnings("ignore")
@_cases("attention")
def test_attention_weighs_each_entry(entry: EntryPoint, device: str) -> None:
    for given in _served(entry, device):
        Q, K, V = numbers((given.shape[0], 4), 5), numbers((given.shape[1], 4), 6), numbers((given.shape[1], 2), 7)
        bias = numbers(len(given.row), 8)
        weights = _softmax(given, (Q[given.row] * K[given.col]).sum(1) + bias)
        expected = np.zeros((given.shape[0], 2))
        np.add.at(expected, given.row, weights[:, None] * V[given.col])
        assert entry.attention is not None
        _check(entry.attention(entry.make(given, device), Q, K, V, bias), expected, given, 8.0)


@pytest.mark.filterwarnings("ignore")
@_cases("refreshed")
def test_new_values_are_in_the_order_of_the_entries(entry: EntryPoint, device: str) -> None:
    for given in _served(entry, device):
        if given.dtype is None and entry.name == "C":
            continue  # a pattern has no values to replace
        fresh, B = numbers(len(given.row), 9), numbers((given.shape[1], 3), 1)
        expected = given.with_values(fresh).dense() @ B
        scale = float((np.abs(given.with_values(np.abs(fresh)).dense()) @ np.abs(B)).max(initial=0.0))
        assert entry.refreshed is not None
        _check(entry.refreshed(entry.make(given, device), fresh, B), expected, given, scale)


@pytest.mark.filterwarnings("ignore")
@_cases("gradient")
def test_gradients_of_values_are_in_the_order_of_the_entries(entry: EntryPoint, device: str) -> None:
    for given in _served(entry, device):
        B, G = numbers((given.shape[1], 3), 1), numbers((given.shape[0], 3), 10)
        expected = (G[given.row] * B[given.col]).sum(1)
        assert entry.gradient is not None
        _check(entry.gradient(entry.make(given, device), B, G), expected, given, 3.0)
