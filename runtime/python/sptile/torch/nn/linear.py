"""The dense linear part of layers, as PyG initialises it."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter, is_lazy

from ...errors import UsageError


def glorot_(parameter: Tensor) -> None:
    bound = math.sqrt(6.0 / (parameter.shape[-2] + parameter.shape[-1]))
    nn.init.uniform_(parameter, -bound, bound)


def lazy_like(parameter: Tensor) -> Any:
    """Returns a parameter of unknown shape, of the type and device of another."""
    make: Any = UninitializedParameter
    return make(requires_grad=parameter.requires_grad, device=parameter.device, dtype=parameter.dtype)


def save_parameters(module: nn.Module, destination: Any, prefix: str, keep_vars: bool) -> None:
    """Saves the parameters of a module, also those of unknown shape, which cannot be detached."""
    for name, parameter in module._parameters.items():
        if parameter is not None:
            destination[prefix + name] = parameter if keep_vars or is_lazy(parameter) else parameter.detach()


def materialize(linear: nn.Module, in_channels: int) -> None:
    """Allocates the weight of a linear layer of ours if its width is unknown. Others have their weight."""
    if isinstance(linear, Linear):
        linear.materialize(in_channels)


def bias_of(out_channels: int, bias: bool) -> nn.Parameter | None:
    """Returns a bias, or None."""
    return nn.Parameter(torch.zeros(out_channels)) if bias else None


class Linear(nn.Linear):
    """x W^T + b, W [out, in]. in_channels = -1 takes the width of the first x; until then W is an
    UninitializedParameter, and a state with or without its size loads."""

    def __init__(self, in_channels: int, out_channels: int, bias: bool = True) -> None:
        if in_channels < -1:
            raise UsageError(f"in_channels must be a width, or -1 for that of the first call, got {in_channels}")
        super().__init__(max(in_channels, 1), out_channels, bias)
        if in_channels == -1:
            self._forget_width()

    def _forget_width(self) -> None:
        self.in_features = -1
        self.weight = lazy_like(self.weight)

    def materialize(self, in_channels: int) -> None:
        """Allocates and initialises a weight of unknown width."""
        if self.in_features < 0:
            # Not as inference tensors, which could not be trained later.
            with torch.inference_mode(False), torch.no_grad():
                self.in_features = in_channels
                self.weight.materialize((self.out_features, in_channels))  # type: ignore[attr-defined]
                self.reset_parameters()

    def reset_parameters(self) -> None:
        if not is_lazy(self.weight):
            self._initialize()

    def _initialize(self) -> None:
        super().reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        self.materialize(x.shape[-1])
        return super().forward(x)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        save_parameters(self, destination, prefix, keep_vars)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        weight = state_dict.get(prefix + "weight")
        if isinstance(weight, Tensor) and is_lazy(weight) != is_lazy(self.weight):
            if is_lazy(weight):
                self._forget_width()
            elif weight.dim() == 2:
                self.materialize(weight.shape[1])
        super()._load_from_state_dict(state_dict, prefix, *rest)  # type: ignore[no-untyped-call]


class GlorotLinear(Linear):
    """x W^T, by default without bias, W [out, in] from glorot's uniform distribution."""

    def __init__(self, in_channels: int, out_channels: int, bias: bool = False) -> None:
        super().__init__(in_channels, out_channels, bias)

    def _initialize(self) -> None:
        glorot_(self.weight)
        if self.bias is not None:
            bound = 1 / math.sqrt(max(self.in_features, 1))
            nn.init.uniform_(self.bias, -bound, bound)
