"""Runs of plans whose matrix was given with entries in another order than that of its CSR arrays.

Lists with a number for each entry are in the order of the given entries, and each of these is an entry of its
own: repeated ones have a score and a weight each. The plan itself sees a matrix whose entries are sorted and
added up; what that changes is undone here, in double for repeated entries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _arrays
from ._arrays import View
from ._operations import OPERATIONS, Operand
from ._order import Order
from ._places import Placed, check_overlaps, place_of, rank_of, torn_result
from ._sorted_plan import SortedPlan, check_numbers
from .errors import UsageError

Finish = Callable[[Any], Any]
"""A list of the plan -> that of the given entries."""


class _Run:
    """Operands of one run. `finish`: converters of result lists, by operand; `numbers`: the scalars."""

    def __init__(self, plan: SortedPlan, order: Order, operands: list[Any], numbers: dict[str, Any]) -> None:
        self.plan, self.order = plan, order
        self.specs = OPERATIONS[plan.op]
        self.given = operands
        self.operands = list(operands)
        self.numbers = numbers
        self.finish: dict[int, Finish] = {}

    def at(self, name: str) -> int:
        return next(i for i, spec in enumerate(self.specs) if spec.name == name)

    def like(self) -> View:
        """The first operand: results are arrays like it."""
        first = next((i for i, one in enumerate(self.given) if one is not None), None)
        if first is None:
            raise UsageError(f"{self.plan.op}: {self.specs[0].name} is missing")
        return _arrays.view(self.given[first], self.specs[first].name)

    def shape(self, count: int, spec: Operand) -> tuple[int, ...]:
        return (count,) if self.plan.heads == 1 or spec.shared else (self.plan.heads, count)

    def view(self, i: int) -> View:
        """A list of given entries, checked."""
        spec = self.specs[i]
        view = self.plan._view(self.given[i], spec)
        wanted = self.shape(self.order.given, spec)
        if view.shape != wanted:
            raise UsageError(f"{self.plan.op}: {spec.name} must have shape {wanted}, got {view.shape}")
        return view

    def doubles(self, i: int) -> Any:
        view = self.view(i)
        return view.framework.double(view.owner)

    def set_doubles(self, i: int, numbers: Any) -> None:
        """Makes an operand of the plan."""
        like, spec = self.like(), self.specs[i]
        numbers = np.broadcast_to(numbers, self.shape(self.plan.nnz, spec)).copy()
        self.operands[i] = like.framework.of_double(numbers, self.plan._dtype_of(spec), self.plan._ordinal)

    def set_empty(self, i: int) -> None:
        """Makes room for a list that the plan writes."""
        spec = self.specs[i]
        self.operands[i] = self.like().framework.empty(
            self.shape(self.plan.nnz, spec), self.plan._dtype_of(spec), self.plan._ordinal
        )

    def of_doubles(self, i: int, numbers: Any) -> Any:
        return self.like().framework.of_double(
            numbers, self.plan._dtype_of(self.specs[i]), self.plan._ordinal
        )

    def placed(self, numbers: Any) -> Any:
        """Index of the CSR entry of each given entry."""
        return self.order.indexed("place", _arrays.view(numbers, "a list"))

    def finish_doubles(self, i: int, change: Finish) -> None:
        """Registers a result list, which `change` expands to one number per given entry."""

        def finish(numbers: Any) -> Any:
            view = _arrays.view(numbers, "a list")
            return self.of_doubles(i, change(view.framework.double(numbers)[..., self.order.place]))

        self.finish[i] = finish

    def _write(self, out: View, array: View) -> Any:
        """Copies a list into `out`, the array of the caller."""
        found = array.owner
        if out.framework is not array.framework:
            found = out.framework.of_double(array.framework.double(found), out.dtype or 0, out.ordinal)
        out.owner[...] = found
        return out.owner

    def results(self, returned: Any) -> Any:
        """Returns the results for the caller, from the results of the plan."""
        written = [
            i
            for i, spec in enumerate(self.specs)
            if spec.result and (self.operands[i] is not None or not spec.optional)
        ]
        found = []
        for i, array in zip(written, returned if len(written) > 1 else (returned,), strict=True):
            if i in self.finish:
                array = self.finish[i](array)
                if self.given[i] is not None:
                    array = self._write(self.view(i), _arrays.view(array, "a list"))
            found.append(array)
        return found[0] if len(found) == 1 else tuple(found)


def run_as_given(plan: SortedPlan, order: Order, given: tuple[Any, ...], **numbers: Any) -> Any:
    """Runs a plan with lists in the order of the given entries. Errors as Plan.run."""
    specs = OPERATIONS[plan.op]
    if len(given) > len(specs):
        return plan._run_sorted(given, **numbers)  # which refuses it
    operands = [*given, *[None] * (len(specs) - len(given))]
    run = _Run(plan, order, operands, numbers)
    check_numbers(alpha=numbers["alpha"], beta=numbers["beta"], slope=numbers.get("slope", 0.0))
    lists = [i for i, spec in enumerate(specs) if spec.extent == "entries"]
    if any(specs[i].result and operands[i] is not None for i in lists):
        _check_results(run)
    values = numbers.get("values")
    values_too = values is not None and plan.format == "csr"
    used = [i for i in lists if operands[i] is not None]
    if plan.transposed and (used or values_too):
        raise UsageError(
            "transpose=True requires nonzeros in CSR order; call A.sum_duplicates() first, or plan with order='packed'"
        )
    repeated = order.repeated and bool(lists) and plan.op not in _REPEATED
    rows_used = any(spec.extent == "features" and one is not None for spec, one in zip(specs, operands, strict=True))
    if repeated or rows_used:
        raise UsageError(
            f"{plan.op} requires distinct nonzeros in CSR order; call A.sum_duplicates() first, or plan with "
            "order='packed'"
        )
    made = any(specs[i].result and not specs[i].optional for i in lists)
    if numbers.get("stream") is not None and (used or made or values_too or (lists and order.repeated)):
        raise UsageError(
            "stream requires nonzeros in CSR order, because reordering would use another stream; sort A first, or "
            "plan with order='packed'"
        )
    if order.repeated and lists:
        _REPEATED[plan.op](run)
    else:
        for i in lists:
            _exchange(run, i)
    if values_too and numbers["values"] is values:
        numbers["values"] = _values(run, values)
    return run.results(plan._run_sorted(tuple(run.operands), **numbers))


def _check_results(run: _Run) -> None:
    """Refuses the caller's results like the plan, which receives copies of lists."""
    placed = []
    for i, (spec, given) in enumerate(zip(run.specs, run.given, strict=True)):
        if given is None:
            continue
        view = run.view(i) if spec.extent == "entries" else run.plan._view(given, spec)
        fits = len(view.shape) == rank_of(spec, run.plan.heads)
        place = place_of(view, spec, run.plan.heads, False) if fits else None
        if place is not None:
            placed.append(Placed(spec, view, place))
        elif spec.result and spec.extent == "entries":
            raise torn_result(view, spec)
    check_overlaps(placed)


def _exchange(run: _Run, i: int) -> None:
    """Permutes a list to the order of the CSR arrays; requires that no entry is repeated."""
    spec, given = run.specs[i], run.given[i]
    if spec.result:
        run.finish[i] = run.placed
    if given is None:
        return
    view = run.view(i)
    if spec.result and run.numbers["beta"] == 0:
        run.set_empty(i)
    else:
        run.operands[i] = run.order.indexed("position", view)


def _values(run: _Run, values: Any) -> Any:
    """Returns the values of a run in the order of the CSR arrays, with repeated entries added up."""
    plan, order = run.plan, run.order
    view = _check_values(run, values)
    if not order.repeated:
        return order.indexed("position", view)
    return view.framework.of_double(
        order.total(view.framework.double(view.owner)), plan._values, plan._ordinal
    )


def _check_values(run: _Run, values: Any) -> View:
    plan, view = run.plan, _arrays.view(values, "values")
    given = run.order.given
    shape = (given,) if len(view.shape) == 1 or plan.heads == 1 else (plan.heads, given)
    if view.shape != shape:
        raise UsageError(f"values must have shape {shape}, got {view.shape}")
    plan._check_values_type(view)
    return view


# ---- Repeated entries ----


def _sddmm(run: _Run) -> None:
    """Each given entry has the dot product of its place, and its own value."""
    i = run.at("out")
    alpha_beta, given = run.numbers, run.given[i]
    beta, scaled, values = alpha_beta["beta"], alpha_beta["scaled"], alpha_beta.get("values")
    old = None if given is None else run.view(i)
    run.operands[i] = None
    run.numbers.update(beta=0.0, scaled=False, values=None)
    if not scaled and beta == 0:
        run.finish[i] = run.placed
        return
    factor: Any = 1.0
    if scaled and values is not None:
        view = _check_values(run, values)
        factor = view.framework.double(view.owner)
    elif scaled and run.plan.values_dtype is not None:
        factor = run.plan._open_handle().matrix.given_doubles()

    def change(dots: Any) -> Any:
        dots = dots * factor
        return dots if old is None or beta == 0 else dots + beta * old.framework.double(old.owner)

    run.finish_doubles(i, change)


def _bias(run: _Run) -> Any:
    """Merges the biases of repeated entries into one; returns each given entry's share of the merged weight."""
    i, order = run.at("bias"), run.order
    if run.given[i] is not None:
        logarithms, shares = order.log_total(run.doubles(i))
        run.set_doubles(i, logarithms)
        return shares
    counts = order.counts().astype(np.float64)
    if run.plan.transposed:
        counts = counts[np.argsort(run.plan._open_handle().matrix.columns(), kind="stable")]
        run.set_doubles(i, np.log(counts))
        return None
    run.set_doubles(i, np.log(counts))
    return 1 / counts[order.place]


def _attention_gradient(run: _Run) -> None:
    shares, i = _bias(run), run.at("dbias")
    if run.given[i] is not None:
        run.set_empty(i)
        run.finish_doubles(i, lambda gradient: gradient * shares)


def _softmax(run: _Run) -> None:
    S, P, order = run.at("S"), run.at("P"), run.order
    if run.given[S] is None:
        return
    with np.errstate(invalid="ignore", over="ignore"):
        logarithms, shares = order.log_total(run.numbers["alpha"] * run.doubles(S))
    run.numbers["alpha"] = 1.0
    run.set_doubles(S, logarithms)
    if run.given[P] is not None:
        run.set_empty(P)
    run.finish_doubles(P, lambda weights: weights * shares)


def _softmax_gradient(run: _Run) -> None:
    P, dP, dS, order = run.at("P"), run.at("dP"), run.at("dS"), run.order
    if run.given[P] is None or run.given[dP] is None:
        return
    alpha = run.numbers["alpha"]
    weights, gradients = run.doubles(P), run.doubles(dP)
    with np.errstate(invalid="ignore", divide="ignore"):
        total = order.total(weights)
        mean = np.where(total == 0, 0, order.total(weights * gradients) / total)
        shares = np.where(total == 0, 0, 1 / total)[..., order.place] * weights
    run.set_doubles(P, total)
    run.set_doubles(dP, mean)
    if run.given[dS] is not None:
        run.set_empty(dS)
    apart = alpha * weights * (gradients - mean[..., order.place])
    run.finish_doubles(dS, lambda gradient: gradient * shares + apart)


def _max_gradient(run: _Run) -> None:
    """Values of repeated entries are added, so each has the gradient of the sum."""
    i = run.at("dvalues")
    run.operands[i] = None
    run.finish[i] = run.placed


_REPEATED: dict[str, Callable[[_Run], Any]] = {
    "sddmm": _sddmm,
    "attention": _bias,
    "attention_gradient": _attention_gradient,
    "attention_gradient_t": _bias,
    "softmax_rows": _softmax,
    "spmm_max_gradient": _max_gradient,
    "softmax_rows_gradient": _softmax_gradient,
}
