"""A planned operation: made once, run many times without an allocation."""

from __future__ import annotations

import copy as copying
from ctypes import byref, c_int, c_void_p
from typing import TYPE_CHECKING, Any

from . import _arrays
from . import _library as c
from ._arrays import NO_FAST_PATH, Framework, View
from ._operations import OPERATIONS, Operand
from ._options import ORDERS, PRECISIONS, name_of, named, plan_options
from ._places import Placed, check_overlaps, place_of, torn_result
from .errors import InternalError, UsageError

if TYPE_CHECKING:
    from .bundle import MatrixHandle

# sptile_run with bare pointers: what runs cost is mostly what it takes to call this.
_run = c.lib["sptile_run"]
_run.argtypes = [c_void_p, c_void_p, c_void_p, c_void_p]
_run.restype = c_int


class PlanHandle(c_void_p):
    """Owns an sptile_plan, and keeps the matrix whose arrays it may borrow. Whoever runs it holds a
    reference, so that closing a plan in one thread never takes it away from another."""

    matrix: MatrixHandle

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("the handle of a Plan is not copied or pickled; copy the Plan")

    def __del__(self, destroy: Any = c.lib.sptile_plan_destroy) -> None:
        destroy(self)


class _Call:
    """Operands of one run, prepared: a thread that runs a plan has one for itself."""

    __slots__ = ("dense", "first", "operands", "reference", "second")

    def __init__(self, count: int = 2) -> None:
        self.operands = c.Operands()
        self.reference = byref(self.operands)
        dense = self.operands.dense
        self.dense = [dense[i] for i in range(count)]
        self.first, self.second = self.dense[:2]


class Plan:
    """A planned operation of one matrix, from `Bundle.plan` or `sptile.plan`. Immutable but for `refresh`;
    any number of threads may run it at a time, each with results of its own.

    Attributes: `shape` (rows, cols) of what is multiplied; `n`, most columns of a run; `op`, `format`,
    `kernel` and `precision`, what was chosen; `dtype` and `result_dtype`, names of the types of operands and
    results; `values_dtype`, of the values of the matrix in the format, None for a pattern; `nnz`; `device`,
    "cpu" or "cuda:0"; `order` of lists with a number for each entry, "csr" or "packed"; `workspace_bytes`,
    device memory that a run needs beside its operands; `least_n`, for runs of fewer columns planning anew may
    be faster; `stored`, whether the bundle had the plan; `heads`, `m`.
    """

    def __init__(self, matrix: MatrixHandle, n: int, settings: dict[str, Any]) -> None:
        handle = PlanHandle()
        handle.matrix = matrix
        operation, options = plan_options(n, **settings)
        c.check(c.lib.sptile_plan_create(matrix, operation, byref(options), byref(handle)))
        self._handle: PlanHandle | None = handle
        self._settings = settings
        info = c.PlanInfo()
        c.check(c.lib.sptile_plan_describe(handle, byref(info)))
        self.op: str = info.operation.decode()
        self.format: str = info.format.decode()
        self.kernel: str = info.kernel.decode()
        self.shape: tuple[int, int] = (info.rows, info.cols)
        self.nnz: int = info.entries
        self.n: int = info.n
        self.m: int = options.m or info.n
        self.heads: int = options.heads or 1
        self.least_n: int = info.least_n
        self.workspace_bytes: int = info.workspace_bytes
        self.dtype: str = _arrays.DTYPE_NAMES[info.dense]
        self.result_dtype: str = _arrays.DTYPE_NAMES[info.result]
        self.values_dtype: str | None = _arrays.DTYPE_NAMES.get(info.values)
        self.precision: str = name_of(info.precision, PRECISIONS)
        self.device: str = _arrays.device_name(info.device, info.ordinal)
        self.order: str = name_of(info.order, ORDERS)
        self.stored: bool = bool(info.stored)
        self.transposed: bool = bool(options.transpose)
        self._transposed_weights = bool(options.transposed_weights)
        self._dense, self._result, self._values = int(info.dense), int(info.result), int(info.values)
        self._kind, self._ordinal = int(info.device), int(info.ordinal)
        self._calls: list[_Call] = []
        # What `__call__` compares operands with that need no further look: those of the framework of the last
        # run.
        self._fast: tuple[Any, ...] = (None, *NO_FAST_PATH)
        self._b_shape = (self.shape[1], self.n)
        self._c_shape = (self.shape[0], self.n)
        self._b_bytes = self.shape[1] * self.n * _arrays.ITEMSIZE[self._dense]
        self._c_bytes = self.shape[0] * self.n * _arrays.ITEMSIZE[self._result]
        self._misaligned = max(_arrays.ITEMSIZE[self._dense], _arrays.ITEMSIZE[self._result]) - 1

    def close(self) -> None:
        """Frees the plan, once runs in other threads are done; using it afterwards raises UsageError."""
        self._handle = None

    def __enter__(self) -> Plan:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> tuple[Any, ...]:
        """A copy is planned anew, with the values that this one has."""
        if self._handle is None:
            raise TypeError("the Plan is closed; copy or pickle it before that")
        settings = {name: value for name, value in self._settings.items() if name != "stream"}
        return self._handle.matrix, self.n, settings

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def __copy__(self) -> Plan:
        return copying.deepcopy(self)

    def __repr__(self) -> str:
        return (
            f"<sptile.Plan {self.op} {self.shape[0]}x{self.shape[1]} n={self.n} {self.dtype} "
            f"{self.kernel} {self.precision} on {self.device}>"
        )

    def _open_handle(self) -> PlanHandle:
        handle = self._handle
        if handle is None:
            raise UsageError("the plan is closed")
        return handle

    # ---- SpMM ----

    def __call__(
        self,
        B: Any,
        out: Any = None,
        *,
        alpha: float = 1.0,
        beta: float = 0.0,
        stream: Any = None,
        workspace: Any = None,
    ) -> Any:
        """C = alpha A B + beta C.

        B: cols x k with k <= n, or a vector of cols numbers; `out`: C, rows x k or rows numbers, written and
        returned; None: a new array like B. Types are those of the plan, nothing is converted or moved; rows
        may be apart, elements of a row may not: then B is copied and `out` refused. On a CUDA device the
        product is enqueued on `stream`, by default the current one of B's framework; with `out` nothing is
        allocated, so that it may be captured in a graph. Runs on several streams at a time need a `workspace`
        each where workspace_bytes is not 0: that much zeroed device memory.

        UsageError: shapes, types, devices or strides that do not fit, overlap of B and `out`.
        """
        framework, array, b_dtype, c_dtype, pair, current = self._fast
        if type(B) is array and B.shape == self._b_shape and B.dtype is b_dtype and workspace is None:
            C = out
            if out is None and beta == 0:
                C = framework.empty(self._c_shape, self._result, self._ordinal)
            if type(C) is array and C.shape == self._c_shape and C.dtype is c_dtype:
                pointers = pair(B, C, self._ordinal)
                if pointers is not None and (stream is None or self._kind == c.CUDA):
                    chosen: int | None = None
                    if stream is not None:
                        chosen = _arrays.stream_handle(stream)
                    elif current is not None:
                        chosen = current(self._ordinal)
                    b, c_ = pointers
                    if self._run_pair(b, c_, alpha, beta, chosen):
                        return C
        if self.op != "spmm":
            raise UsageError(f"the plan is of {self.op}: use plan.run, or plan.sddmm for sddmm")
        if beta != 0 and out is None:
            raise UsageError(f"beta = {beta} adds to what is in `out`: pass it")
        return self._run((B, out), alpha=alpha, beta=beta, stream=stream, workspace=workspace)

    def _run_pair(self, b: int, c_: int, alpha: float, beta: float, stream: int | None) -> bool:
        """Runs with two contiguous operands of all columns; False, and nothing is done, unless they are
        aligned and apart."""
        if (b | c_) & self._misaligned or -self._b_bytes < b - c_ < self._c_bytes:
            return False
        handle = self._handle  # kept until the run is done, whoever closes the plan meanwhile
        if handle is None:
            raise UsageError("the plan is closed")
        calls = self._calls
        try:
            call = calls.pop()  # one that no other thread has
        except IndexError:
            call = _Call()
        call.first.data, call.second.data = b, c_
        try:
            call.operands.alpha = alpha
            call.operands.beta = beta
        except (TypeError, ValueError):
            raise UsageError(f"alpha = {alpha!r}, beta = {beta!r}; pass numbers") from None
        status = _run(handle, call.reference, stream, None)
        calls.append(call)
        if status:
            c.check(status)
        return True

    # ---- SDDMM ----

    def sddmm(
        self,
        X: Any,
        Y: Any,
        out: Any = None,
        *,
        alpha: float = 1.0,
        beta: float = 0.0,
        scaled: bool = False,
        stream: Any = None,
        workspace: Any = None,
    ) -> Any:
        """out = alpha (X Y^T at the entries of A) + beta out, of a plan with op="sddmm".

        X: rows x k, Y: cols x k with k <= n; k = 0: dot products are 0. `out`: one number for each entry, in
        `order`: "csr", of each given entry in the order of A.data (see `Bundle.of`), or "packed"; None: a new
        array. scaled: each is multiplied by the value of its entry, too. The rest as in `__call__`.
        """
        if self.op != "sddmm":
            raise UsageError(f"the plan is of {self.op}: make one with op='sddmm'")
        if beta != 0 and out is None:
            raise UsageError(f"beta = {beta} adds to what is in `out`: pass it")
        return self._run(
            (X, Y, out), alpha=alpha, beta=beta, scaled=scaled, stream=stream, workspace=workspace
        )

    # ---- Any operation ----

    def run(
        self,
        *operands: Any,
        alpha: float = 1.0,
        beta: float = 0.0,
        scaled: bool = False,
        slope: float = 0.2,
        values: Any = None,
        stream: Any = None,
        workspace: Any = None,
    ) -> Any:
        """Runs the operation of the plan: operands in its order, results last, as in
        docs/guide/graph-layers.md (attention, softmax_rows, spmm_update and their gradients).

        None stands for an operand that is left out; a result that is needed is then made, one that is not is
        not written. With heads > 1 every operand that heads do not share begins with that dimension:
        heads x rows x n, of any strides that keep a row together (rows x heads x n is
        `x.transpose(1, 0, 2)`). `values`: nnz values (heads x nnz) for this run in place of those of the matrix, in the
        order in which the format stores them; with the format csr and order="csr" one for each given entry,
        in the order of A.data. So are all lists with a number for each entry: repeated ones have a score and
        a weight each. Lists of a plan with transpose=True are in the CSR order of the transpose. Operands
        without columns (n = 0) give sums of nothing. `workspace`: zeroed device memory of workspace_bytes,
        which runs on several streams at a time need each. Returns the results that were written, one as itself, several as
        a tuple.
        """
        if beta != 0 and any(
            spec.result and (i >= len(operands) or operands[i] is None)
            for i, spec in enumerate(OPERATIONS[self.op])
            if not spec.optional
        ):
            raise UsageError(f"beta = {beta} adds to the results that are given: pass them")
        return self._run(
            operands,
            alpha=alpha,
            beta=beta,
            scaled=scaled,
            slope=slope,
            values=values,
            stream=stream,
            workspace=workspace,
        )

    def _run(self, given: tuple[Any, ...], **numbers: Any) -> Any:
        """Runs with lists in the order in which the entries of the matrix were given."""
        matrix = self._open_handle().matrix
        if self.order == "csr" and matrix.source.unordered:
            self._refuse_lists(matrix.source.unordered, given, numbers.get("values"))
        if self.order == "packed" or matrix.order is None:
            return self._run_sorted(given, **numbers)
        from ._given import run_as_given

        numbers.setdefault("scaled", False)
        return run_as_given(self, matrix.order, given, **numbers)

    def _refuse_lists(self, kind: str, given: tuple[Any, ...], values: Any) -> None:
        """Refuses lists with a number for each entry of a matrix whose entries have no order."""
        specs = OPERATIONS[self.op]
        used = [i < len(given) and given[i] is not None for i in range(len(specs))]
        for spec, is_used in zip(specs, used, strict=True):
            if spec.extent == "entries" and (is_used or not spec.optional):
                raise UsageError(f"{self.op}: {_no_order(kind)}")
        if values is not None and self.format == "csr":
            raise UsageError(f"{self.op}: {_no_order(kind)}")

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
            raise UsageError(f"{self.op} takes {len(specs)} operands ({names}), not {len(given)}")
        given = given + (None,) * (len(specs) - len(given))
        views = [None if a is None else self._view(a, spec) for a, spec in zip(given, specs, strict=True)]
        first = next((v for v in views if v is not None), None)
        if first is None:
            raise UsageError(f"{self.op}: {specs[0].name} is missing")
        self._remember(first.framework)
        vectors = self.op == "spmm" and self.heads == 1 and len(first.shape) == 1
        n = self._columns(views, specs, vectors)
        handle_of_stream = self._stream(stream, first, [v for v in views if v is not None])

        placed: list[Placed] = []  # copies and new results live until the run is enqueued
        call = _Call(len(specs))
        for spec, view, operand in zip(specs, views, call.dense, strict=True):
            if view is None:
                if spec.optional:
                    continue
                if not spec.result:
                    raise UsageError(f"{self.op}: {spec.name} is missing")
                made = first.framework.empty(
                    self._shape(spec, n, vectors), self._dtype_of(spec), self._ordinal
                )
                view = self._view(made, spec)
            one = self._place(view, spec, n, vectors, stream)
            placed.append(one)
            operand.data, operand.ld, operand.batch = one.view.pointer, one.place.ld, one.place.batch
        results = [one.view.owner for one in placed if one.spec.result]
        check_overlaps(placed)
        if n == 0 and self.op != "spmm":
            wide = self._with_a_column(given, specs, placed)
            self._run_sorted(
                wide, alpha=alpha, beta=beta, scaled=scaled, slope=slope, values=values, stream=stream,
                workspace=workspace,
            )  # fmt: skip
        elif n > 0 and any(one.place.extent for one in placed if one.spec.result):
            operands = call.operands
            operands.n = n
            self._set_numbers(operands, alpha, beta, slope)
            operands.scaled = int(bool(scaled))
            kept = self._set_values(operands, values)
            room = self._workspace(workspace)
            c.check(_run(handle, call.reference, handle_of_stream, None if room is None else byref(room)))
            del kept
        return results[0] if len(results) == 1 else tuple(results)

    def _with_a_column(
        self, given: tuple[Any, ...], specs: tuple[Operand, ...], placed: list[Placed]
    ) -> tuple[Any, ...]:
        """Operands without columns with one of zeros instead, whose products are 0; the others as they are."""
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

    def _remember(self, framework: Framework) -> None:
        """Prepares `__call__` for more operands of a framework."""
        if framework is not self._fast[0] and self.op == "spmm" and self.heads == 1:
            self._fast = (framework, *framework.fast_path(self._dense, self._result))

    @staticmethod
    def _set_numbers(operands: c.Operands, alpha: float, beta: float, slope: float) -> None:
        try:
            operands.alpha, operands.beta, operands.slope = alpha, beta, slope
        except (TypeError, ValueError):
            raise UsageError(f"alpha = {alpha!r}, beta = {beta!r}, slope = {slope!r}; pass numbers") from None

    def _dtype_of(self, spec: Operand) -> int:
        if spec.element == "statistic":
            return c.F64 if self._dense == c.F64 else c.F32
        return self._result if spec.result and spec.element == "usual" else self._dense

    def _view(self, array: Any, spec: Operand) -> View:
        """Where an operand lies, on the device and of the type of the plan."""
        view = _arrays.view(array, spec.name)
        if (view.device, view.ordinal) != (self._kind, self._ordinal):
            raise UsageError(f"{spec.name} is on {view.device_name}, the plan runs on {self.device}")
        wanted = self._dtype_of(spec)
        if view.dtype != wanted:
            raise UsageError(f"{spec.name} is {view.dtype_name}, the plan has {_arrays.DTYPE_NAMES[wanted]}")
        if spec.result and not view.writable:
            raise UsageError(f"{spec.name} is read-only, but it is written")
        if spec.result and not view.aligned:
            raise UsageError(f"{spec.name} does not begin at a multiple of the size of its elements")
        return view

    def _columns(self, views: list[View | None], specs: tuple[Operand, ...], vectors: bool) -> int:
        """Columns of this run: those of the first operand that has n of them."""
        if vectors:
            return 1
        for view, spec in zip(views, specs, strict=True):
            if view is not None and spec.width == "n" and spec.extent in ("rows", "cols") and view.shape:
                n = view.shape[-1]
                if n > self.n:
                    raise UsageError(f"{spec.name} has {n} columns, the plan serves 1 to {self.n}")
                return n
        return self.n

    def _shape(self, spec: Operand, n: int, vectors: bool) -> tuple[int, ...]:
        """What the shape of an operand must be."""
        rows = {"rows": self.shape[0], "cols": self.shape[1], "entries": self.nnz, "inner": n, "one": 1}
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
        """Where an operand stands, or a copy of it where its rows are torn."""
        wanted = self._shape(spec, n, vectors)
        if view.shape != wanted:
            raise UsageError(f"{self.op}: {spec.name} has shape {view.shape}; it must be {wanted}")
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
                f"{spec.name} must be row-major where a stream is given: a copy would be on another one"
            )
        return _arrays.view(view.framework.contiguous(view.owner), spec.name)

    def _stream(self, stream: Any, first: View, views: list[View]) -> int | None:
        """The stream of a run. Operands that name another one are waited for."""
        if self._kind == c.CPU:
            if stream is not None:
                raise UsageError("a plan for the CPU takes no stream")
            return None
        if stream is not None:
            chosen = _arrays.stream_handle(stream)
        else:
            current = first.framework.stream(self._ordinal)
            chosen = current if current is not None else (first.stream or 0)
        for other in {v.stream for v in views if v.stream is not None and v.stream != chosen}:
            _arrays.wait_for(other)
        return chosen

    def _set_values(self, operands: c.Operands, values: Any) -> Any:
        """Puts values of a run into its operands; returns who keeps them."""
        if values is None:
            return None
        view = _arrays.view(values, "values")
        shape = (self.nnz,) if len(view.shape) == 1 or self.heads == 1 else (self.heads, self.nnz)
        if view.shape != shape or (view.device, view.ordinal) != (self._kind, self._ordinal):
            raise UsageError(
                f"values are {view.shape} on {view.device_name}; they must be {shape} on {self.device}"
            )
        self._check_values_type(view)
        batch = 0
        if view.strides is None or not view.aligned or (self.nnz > 1 and view.strides[-1] != 1):
            raise UsageError("values must follow each other without gaps")
        if len(shape) == 2:
            batch = view.strides[0]
            if batch < 0:
                raise UsageError("the values of heads go backwards")
        operands.values = view.pointer
        operands.values_batch = batch
        return view.owner

    def _check_values_type(self, view: View) -> None:
        if view.dtype != self._values:
            raise UsageError(
                f"values are {view.dtype_name}, those of the plan are {_type_name(self._values)}"
            )

    def _workspace(self, workspace: Any) -> c.Workspace | None:
        if workspace is None:
            return None
        view = _arrays.view(workspace, "workspace")
        if (view.device, view.ordinal) != (self._kind, self._ordinal) or not view.writable:
            raise UsageError(
                f"workspace is on {view.device_name}; it must be writable memory on {self.device}"
            )
        if view.strides is None or view.strides != _arrays._packed(view.shape):
            raise UsageError("workspace must follow itself without gaps")
        count = 1
        for extent in view.shape:
            count *= extent
        return c.Workspace(view.pointer, count * view.itemsize)

    # ---- New values ----

    def refresh(self, values: Any, *, order: str = "csr", stream: Any = None) -> None:
        """New values for all refreshable plans of the bundle, made with refreshable=True. No plan of it may
        run meanwhile.

        values: one number of `values_dtype` for each given entry of the matrix, in host memory or on the
        plan's device, in the order of A.data (see `Bundle.of`); those of repeated entries are added up in
        double. order="packed": nnz numbers as this plan's format stores them, which is what sddmm writes so. In
        device memory they are moved on `stream`, and nothing waits.
        """
        handle = self._open_handle()
        matrix = handle.matrix
        in_order = named(order, ORDERS, "order")
        view = _arrays.view(values, "values")
        count = self.nnz if in_order == c.ORDER_PACKED else matrix.source_count
        if view.shape != (count,):
            raise UsageError(f"values have shape {view.shape}; the matrix has {count} entries")
        if view.device == c.CUDA and (self._kind, self._ordinal) != (view.device, view.ordinal):
            raise UsageError(f"values are on {view.device_name}, the plan on {self.device}")
        self._check_values_type(view)
        doubles = None
        if in_order == c.ORDER_CSR and matrix.source.unordered:
            raise UsageError(f"refresh: {_no_order(matrix.source.unordered)}")
        if in_order == c.ORDER_CSR and matrix.order is not None and matrix.source.device == "cpu":
            if view.device == c.CUDA and stream is not None:
                raise UsageError("the entries of A are not in CSR order: pass values in host memory, or no stream")
            if matrix.order.repeated:
                doubles = view.framework.double(view.owner)
                sums = matrix.order.total(doubles)
                view = _arrays.view(view.framework.of_double(sums, self._values, view.ordinal), "values")
            else:
                view = _arrays.view(matrix.order.indexed("position", view), "values")
            count = self.nnz
        if view.strides is None or not view.aligned or (count > 1 and view.strides[0] != 1):
            view = self._copy(view, Operand("values", "entries"), stream)
        on_stream = self._stream(stream, view, [view]) if view.device == c.CUDA else None
        fresh = c.Values(data=view.pointer, count=count, value_dtype=view.dtype)
        if in_order == c.ORDER_PACKED:
            fresh.order = handle.value
        c.check(c.lib.sptile_matrix_refresh(matrix, byref(fresh), on_stream))
        matrix.refreshed = (self.format, self._values)
        matrix.given_values = False if doubles is None else doubles


def _no_order(kind: str) -> str:
    return f"the entries of a {kind} have no order for lists with a number for each; pass A.tocsr()"


def _type_name(code: int) -> str:
    return _arrays.DTYPE_NAMES.get(code, "not there: the matrix is a pattern")
