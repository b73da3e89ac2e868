"""Unchanged models of PyG and torch with the kernels of sptile."""

from .scope import Scope, accelerate

__all__ = ["Scope", "accelerate"]
