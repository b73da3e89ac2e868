"""Precision of products in a training."""

import contextlib

import torch

from errors import USAGE, TrainError

SIXTEEN_BITS = {"bf16": torch.bfloat16, "fp16": torch.float16}


def check_precisions(names, device, partition):
    """Refuses precisions that the device or a training in several processes does not support."""
    if "tf32" in names and device == "cpu":
        raise TrainError(USAGE, "tf32 requires --device cuda; the CPU multiplies in fp32")
    if partition and not set(names).isdisjoint(SIXTEEN_BITS):
        raise TrainError(USAGE, "--partition supports --precision fp32 and tf32")


class Precision:
    """Precision of dense and sparse products: fp32, tf32, or autocast to bf16 or fp16, with parameters in fp32. fp16
    scales the loss, so that small gradients do not become 0."""

    def __init__(self, name, device):
        self.dtype, self.device = SIXTEEN_BITS.get(name), device
        self.scaler = torch.amp.GradScaler(device.type) if name == "fp16" else None
        torch.backends.cuda.matmul.allow_tf32 = name == "tf32"

    def products(self):
        """Returns the context of forward passes."""
        if self.dtype is None:
            return contextlib.nullcontext()
        return torch.autocast(self.device.type, self.dtype)

    def backward(self, loss):
        """Computes the gradients of the parameters."""
        (loss if self.scaler is None else self.scaler.scale(loss)).backward()

    def step(self, optimizer):
        """Updates the parameters."""
        if self.scaler is None:
            optimizer.step()
        else:
            self.scaler.step(optimizer)
            self.scaler.update()
