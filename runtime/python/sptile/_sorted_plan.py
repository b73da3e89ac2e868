"""Runs of a planned operation with operands of any framework, lists in the order of the plan."""

from __future__ import annotations

from ctypes import byref, c_double
from typing import Any


from . import _arrays
from . import _library as c
from ._arrays import NO_FAST_PATH, View
from ._calls import Address, PackedProducts, PlanHandle
from ._matrix import MatrixHandle
from ._operations import OPERATIONS, Operand
from ._options import DEFAULTS, ORDERS, PRECISIONS, PlanSettings, name_of, plan_options
from ._places import Placed, check_overlaps, place_of, torn_result
from .errors import ArgumentTypeError, InternalError, UsageError


def check_numbers(**numbers: Any) -> None:
    """Raises ArgumentTypeError unless alpha, beta and slope are numbers."""
    try:
        for value in numbers.values():
            c_double(value)
    except (TypeError, ValueError):
        found = [f"{numbers[name]!r}" for name in ("alpha", "beta", "slope")]
        raise ArgumentTypeError(
            f"alpha, beta and slope must be numbers, got {found[0]}, {found[1]} and {found[2]}"
        ) from None


class SortedPlan:
    """A planned operation. Lists with one number per entry are in the order of the plan."""

    def _set(self, matrix: MatrixHandle, n: int, settings: PlanSettings) -> None:
        operation, options = plan_options(n, **settings)
        handle = PlanHandle(matrix, operation, options)
        info, given = handle.info, {**DEFAULTS, **settings}
        self._settings = settings
        self.op: str = info.operation.decode()
        self.format: str = info.format.decode()
        self.kernel: str = info.kernel.decode()
        self.shape: tuple[int, int] = (info.rows, info.cols)
        self.nnz: int = info.entries
        self.n: int = info.n
        self.m: int = int(given["m"]) or info.n
        self.heads: int = int(given["heads"])
        self.least_n: int = info.least_n
        self.workspace_bytes: int = info.workspace_bytes
        self.dtype: str = _arrays.DTYPE_NAMES[info.dense]
        self.result_dtype: str = _arrays.DTYPE_NAMES[info.result]
        self.values_dtype: str | None = _arrays.DTYPE_NAMES.get(info.values)
        self.precision: str = name_of(info.precision, PRECISIONS)
        self.device: str = _arrays.device_name(info.device, info.ordinal)
        self.order: str = name_of(info.order, ORDERS)
        self.stored: bool = bool(info.stored)
        self.transposed: bool = bool(given["transpose"])
        self._transposed_weights = bool(given["transposed_weights"])
        self._dense, self._result, self._values = int(info.dense), int(info.result), int(info.values)
        self._kind, self._ordinal = int(info.device), int(info.ordinal)
        self._packed = PackedProducts(handle, self._dense, self._result)
        self._multiply = self._packed.multiply
        # `__call__` compares operands with this fast path of the framework of the last run.
        self._fast: tuple[Any, ...] = (None, *NO_FAST_PATH)

    @property
    def _handle(self) -> PlanHandle | None:
        return self._packed.handle

    def _open_handle(self) -> PlanHandle:
        handle = self._handle
        if handle is None:
            raise UsageError("the plan is closed")
        return handle

    def _run_sorted(
        self,
        given: tuple[Any, ...],
        *,
        alpha: float,
        beta: float,
        scaled: bool = False,
        slope: float = 0.2,
        values: Any = None,
        stream: Any = None,
        workspace: Any = None,
    ) -> Any:
        handle = self._open_handle()
        specs = OPERATIONS[self.op]
        if len(given) > len(specs):
            names = ", ".join(spec.name for spec in specs)
            raise ArgumentTypeError(f"{self.op} takes {len(specs)} operands ({names}), got {len(given)}")
        given = given + (None,) * (len(specs) - len(given))
        views = [None if a is None else self._view(a, spec) for a, spec in zip(given, specs, strict=True)]
        first = next((v for v in views if v is not None), None)
        if first is None:
            raise UsageError(f"{self.op}: {specs[0].name} is missing")
        vectors = self.op == "spmm" and self.heads == 1 and len(first.shape) == 1
        n = self._columns(views, specs, vectors)
        handle_of_stream = self._stream(stream, first, [v for v in views if v is not None])

        placed: list[Placed] = []  # copies and new results live until the run is enqueued
        dense: list[Address | None] = []
        for spec, view in zip(specs, views, strict=True):
            if view is None:
                if spec.optional:
                    dense.append(None)
                    continue
                if not spec.result:
                    raise UsageError(f"{self.op}: {spec.name} is missing")
                shape = self._shape(spec, n, vectors)
                view = self._view(first.framework.empty(shape, self._dtype_of(spec), self._ordinal), spec)
            one = self._place(view, spec, n, vectors, stream)
            placed.append(one)
            dense.append((one.view.pointer, one.place.ld, one.place.batch))
        results = [one.view.owner for one in placed if one.spec.result]
        check_overlaps(placed)
        if n == 0 and self.op != "spmm":
            wide = self._with_a_column(given, specs, placed)
            numbers: dict[str, Any] = {"alpha": alpha, "beta": beta, "scaled": scaled, "slope": slope}
            self._run_sorted(wide, **numbers, values=values, stream=stream, workspace=workspace)
        elif n > 0 and any(one.place.extent for one in placed if one.spec.result):
            check_numbers(alpha=alpha, beta=beta, slope=slope)
            kept, address, batch = self._run_values(values)
            memory = self._workspace(workspace)
            attributes: dict[str, float] = {"scaled": 1} if scaled else {}
            if slope != 0.2:
                attributes["slope"] = slope
            handle.run(
                dense, address, batch, n=n, alpha=alpha, beta=beta, stream=handle_of_stream,
                workspace=None if memory is None else byref(memory), **attributes,
            )  # fmt: skip
            del kept
            if self.op == "spmm" and self.heads == 1:
                self._remember(*placed)
        return results[0] if len(results) == 1 else tuple(results)

    def _with_a_column(
        self, given: tuple[Any, ...], specs: tuple[Operand, ...], placed: list[Placed]
    ) -> tuple[Any, ...]:
        """Returns the operands, with a column of zeros in each that has no columns: its products are 0."""
        found = {one.spec.name: one.view for one in placed}
        wide: list[Any] = []
        for array, spec in zip(given, specs, strict=True):
            view = found.get(spec.name)
            if view is None or 0 not in self._shape(spec, 0, False):
                wide.append(array if view is None else view.owner)
                continue
            column = view.framework.empty(self._shape(spec, 1, False), self._dtype_of(spec), self._ordinal)
            column[...] = 0
            wide.append(column)
        return tuple(wide)

    def _remember(self, operand: Placed, result: Placed) -> None:
        """Prepares `__call__` for operands of the same framework and shape."""
        framework, shape = operand.view.framework, operand.view.shape
        if framework is not self._fast[0]:
            self._fast = (framework, *framework.fast_path(self._dense, self._result))
        if framework is _arrays.NUMPY:
            _, _, *dtypes, _, _ = self._fast
            self._packed.set_dtypes(*dtypes)
        self._packed.add(shape, result.view.shape)

    def _dtype_of(self, spec: Operand) -> int:
        if spec.element == "index":
            return c.DTYPE_I32
        if spec.element == "statistic":
            return c.DTYPE_F64 if self._dense == c.DTYPE_F64 else c.DTYPE_F32
        return self._result if spec.result and spec.element == "usual" else self._dense

    def _view(self, array: Any, spec: Operand) -> View:
        """Returns the memory of an operand. UsageError unless its device and type are those of the plan."""
        view = _arrays.view(array, spec.name)
        if (view.device, view.ordinal) != (self._kind, self._ordinal):
            raise UsageError(f"{spec.name} must be on {self.device}, the device of the plan, got {view.device_name}")
        wanted = self._dtype_of(spec)
        if view.dtype != wanted:
            raise UsageError(f"{spec.name} must be {_arrays.ELEMENT_NAMES[wanted]}, got {view.dtype_name}")
        if spec.result and not view.writable:
            raise UsageError(f"{spec.name} is read-only; pass a writable array")
        if spec.result and not view.aligned:
            raise UsageError(f"{spec.name} is not aligned to the size of its elements")
        return view

    def _columns(self, views: list[View | None], specs: tuple[Operand, ...], vectors: bool) -> int:
        """Returns the number of columns of a run, from the first operand with n columns."""
        if vectors:
            return 1
        for view, spec in zip(views, specs, strict=True):
            if view is not None and spec.width == "n" and spec.extent in ("rows", "cols") and view.shape:
                return view.shape[-1]
        return self.n

    def _shape(self, spec: Operand, n: int, vectors: bool) -> tuple[int, ...]:
        """Returns the required shape of an operand."""
        rows = {"rows": self.shape[0], "cols": self.shape[1], "inner": n, "one": 1}
        rows |= {"entries": self.nnz, "features": self.nnz}
        width = {"n": n, "m": self.m, "one": 1, "two": 2}[spec.width]
        shape: tuple[int, ...] = (rows[spec.extent], width)
        if spec.extent == "inner" and self._transposed_weights:
            shape = shape[::-1]
        elif spec.extent == "entries":
            shape = shape[:1]
        elif spec.extent == "one":
            shape = (width,)
        elif vectors:
            shape = shape[:1]
        return shape if spec.shared or self.heads == 1 else (self.heads, *shape)

    def _place(self, view: View, spec: Operand, n: int, vectors: bool, stream: Any) -> Placed:
        """Returns the layout of an operand, or of a copy if its rows are not contiguous."""
        wanted = self._shape(spec, n, vectors)
        if view.shape != wanted:
            raise UsageError(f"{self.op}: {spec.name} must have shape {wanted}, got {view.shape}")
        place = place_of(view, spec, self.heads, vectors)
        if place is None:
            view = self._copy(view, spec, stream)
            place = place_of(view, spec, self.heads, vectors)
        if place is None:
            raise InternalError(f"a copy of {spec.name} has strides {view.strides}")
        return Placed(spec, view, place)

    def _copy(self, view: View, spec: Operand, stream: Any) -> View:
        if spec.result:
            raise torn_result(view, spec)
        if stream is not None:
            raise UsageError(
                f"{spec.name} must be row-major when a stream is given, because a copy would use another stream"
            )
        return _arrays.view(view.framework.contiguous(view.owner), spec.name)

    def _stream(self, stream: Any, first: View, views: list[View]) -> int | None:
        """Returns the stream of a run, after waiting for other streams that operands name."""
        if self._kind == c.DEVICE_CPU:
            if stream is not None:
                raise UsageError("stream requires a plan for a CUDA device")
            return None
        if stream is not None:
            chosen = _arrays.stream_handle(stream)
        else:
            current = first.framework.stream(self._ordinal)
            chosen = current if current is not None else (first.stream or 0)
        for other in {v.stream for v in views if v.stream is not None and v.stream != chosen}:
            _arrays.wait_for(other)
        return chosen

    def _run_values(self, values: Any) -> tuple[Any, int | None, int]:
        """Returns the owner of the values of a run, their address, and the elements between heads."""
        if values is None:
            return None, None, 0
        view = _arrays.view(values, "values")
        shape = (self.nnz,) if len(view.shape) == 1 or self.heads == 1 else (self.heads, self.nnz)
        if view.shape != shape or (view.device, view.ordinal) != (self._kind, self._ordinal):
            raise UsageError(
                f"values must have shape {shape} on {self.device}, got {view.shape} on {view.device_name}"
            )
        self._check_values_type(view)
        if view.strides is None or not view.aligned or (self.nnz > 1 and view.strides[-1] != 1):
            raise UsageError("values must be contiguous")
        return view.owner, view.pointer, view.strides[0] if len(shape) == 2 else 0

    def _check_values_type(self, view: View) -> None:
        """Checks the type, unless the matrix is a pattern, whose values the library refuses."""
        if self._values not in (c.DTYPE_NONE, view.dtype):
            raise UsageError(f"values must be {_arrays.DTYPE_NAMES[self._values]}, got {view.dtype_name}")

    def _workspace(self, workspace: Any) -> c.Workspace | None:
        if workspace is None:
            return None
        view = _arrays.view(workspace, "workspace")
        if (view.device, view.ordinal) != (self._kind, self._ordinal) or not view.writable:
            raise UsageError(
                f"workspace must be writable memory on {self.device}, got memory on {view.device_name}"
            )
        if view.strides is None or view.strides != _arrays._packed(view.shape):
            raise UsageError("workspace must be contiguous")
        count = 1
        for extent in view.shape:
            count *= extent
        return c.Workspace(view.pointer, count * view.itemsize)
