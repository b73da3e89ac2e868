"""A plugin of pytest: each product of a sparse matrix in PyTorch's tests is compared with sptile's."""

from __future__ import annotations

from typing import Any

import torch
from tally import compare, pytest_sessionfinish, pytest_terminal_summary  # noqa: F401 (hooks)
from torch.overrides import TorchFunctionMode

import sptile.torch as st

_PRODUCTS = {
    torch.sparse.mm, torch.mm, torch.matmul, torch.mv, torch.Tensor.mm, torch.Tensor.matmul, torch.Tensor.mv,
    torch.Tensor.__matmul__,
}  # fmt: skip


class _Compared(TorchFunctionMode):
    def __torch_function__(self, function: Any, types: Any, arguments: Any = (), keywords: Any = None) -> Any:
        result = function(*arguments, **(keywords or {}))
        if function in _PRODUCTS and len(arguments) == 2 and not keywords:
            a, b = arguments
            if isinstance(a, torch.Tensor) and a.layout is not torch.strided and result.layout is torch.strided:
                tolerance = {torch.float64: 1e-11, torch.float32: 1e-4}.get(a.dtype, 4e-2)
                with torch._C.DisableTorchFunction():
                    compare(
                        f"{a.layout} {a.dtype} {list(a.shape)} by {list(b.shape)}",
                        lambda: st.spmm(st.SparseMatrix.from_torch(a.detach()), b.detach()).double().numpy(),
                        result.detach().to(torch.complex128 if result.is_complex() else torch.float64).numpy(),
                        tolerance,
                    )
        return result


_mode = _Compared()


def pytest_runtest_call() -> None:
    _mode.__enter__()


def pytest_runtest_teardown() -> None:
    if torch.overrides._len_torch_function_stack():
        _mode.__exit__(None, None, None)
