"""The dense linear part of layers, as PyG initialises it."""

from __future__ import annotations

import math

import torch
from torch import nn


def glorot_(parameter: torch.Tensor) -> None:
    bound = math.sqrt(6.0 / (parameter.shape[-2] + parameter.shape[-1]))
    nn.init.uniform_(parameter, -bound, bound)


class GlorotLinear(nn.Linear):
    """x W^T without bias, W [out, in] from glorot's uniform distribution."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__(in_channels, out_channels, bias=False)

    def reset_parameters(self) -> None:
        glorot_(self.weight)
