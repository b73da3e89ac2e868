"""Output of the tool: JSON, or a table."""

import dataclasses
import statistics

SCHEMA_VERSION = 1


def set_break_even(runs):
    """Sets the numbers of epochs after which the longer preparation of a run has paid off: against the run of the first
    configuration with the same seed, and against that of the first order."""
    first = {run.seed: run for run in reversed(runs) if configuration(run) == configuration(runs[0])}
    orders = {
        (run.backend, run.precision, run.seed): run for run in reversed(runs) if run.order == runs[0].order
    }
    for run in runs:
        run.break_even_epochs = break_even(run, first.get(run.seed))
        run.order_break_even_epochs = break_even(run, orders.get((run.backend, run.precision, run.seed)))


def configuration(run):
    """Returns what differs between the runs of a seed."""
    return run.backend, run.precision, run.order


def break_even(run, other):
    """Returns the number of epochs after which `run` is ahead of `other`; None: never, or they are the same run."""
    if other is None or run is other:
        return None
    gain = other.seconds_per_epoch["total"] - run.seconds_per_epoch["total"]
    cost = run.order_seconds + run.prepare_seconds - other.order_seconds - other.prepare_seconds
    return max(0.0, cost / gain) if gain > 0 else None


def labels(runs):
    """Returns configuration -> name: the backend, and the precision and order if they differ between runs."""
    parts = list(zip(*(configuration(run) for run in runs), strict=True))
    shown = [True, *(len(set(part)) > 1 for part in parts[1:])]
    return {
        configuration(run): " ".join(
            word for word, used in zip(configuration(run), shown, strict=True) if used
        )
        for run in runs
    }


def summaries(runs):
    """Returns name of a configuration -> means over its seeds, and the standard deviation of the accuracy."""
    names, groups = labels(runs), {}
    for run in runs:
        groups.setdefault(names[configuration(run)], []).append(run)
    return {
        name: {
            "test_accuracy": statistics.fmean(run.test_accuracy for run in group),
            "seconds_per_epoch": {
                part: statistics.fmean(run.seconds_per_epoch[part] for run in group)
                for part in group[0].seconds_per_epoch
            },
            "prepare_seconds": statistics.fmean(run.prepare_seconds for run in group),
            "order_seconds": group[0].order_seconds,
            "peak_bytes": [max(own) for own in zip(*(run.peak_bytes for run in group), strict=True)],
            "test_accuracy_deviation": statistics.pstdev(run.test_accuracy for run in group),
        }
        for name, group in groups.items()
    }


def as_json(about, runs):
    """Returns a dictionary; test_accuracy and seconds_per_epoch at the top level are those of the first
    configuration."""
    backends = summaries(runs)
    first = next(iter(backends.values()))
    return {
        "schema_version": SCHEMA_VERSION,
        **about,
        "test_accuracy": first["test_accuracy"],
        "seconds_per_epoch": first["seconds_per_epoch"],
        "backends": backends,
        "runs": [dataclasses.asdict(run) for run in runs],
    }


def as_text(about, runs):
    """Returns a line about the data, then a table with a line for each run and each mean."""
    names = labels(runs)
    width = max(8, *map(len, names.values()))
    lines = [
        "{data}: {nodes} nodes, {edges} edges, {features} features, {classes} classes; "
        "{model}, {layers} layers, {epochs} epochs, hidden {hidden}, {device}".format(**about),
        f"{'backend':<{width}} {'seed':>6} {'test %':>7} {'ms/epoch':>9} {'sparse':>8} {'dense':>8} {'rest':>8} "
        f"{'order s':>8} {'prepare s':>10} {'peak MiB':>9} {'break-even':>11}",
    ]
    for run in runs:
        even = "-" if run.break_even_epochs is None else f"{run.break_even_epochs:.0f} epochs"
        lines.append(row(f"{names[configuration(run)]:<{width}} {run.seed:>6}", dataclasses.asdict(run)) + f" {even:>11}")
    if len({run.seed for run in runs}) > 1:
        lines += [row(f"{name:<{width}} {'mean':>6}", mean) for name, mean in summaries(runs).items()]
    return "\n".join(lines)


def row(name, numbers):
    """Returns a line of the table."""
    seconds = numbers["seconds_per_epoch"]
    parts = " ".join(f"{1e3 * seconds[kind]:8.2f}" for kind in ("sparse", "dense", "rest"))
    peak = f"{max(numbers['peak_bytes']) / 2**20:.0f}" if numbers["peak_bytes"] else "-"
    return (
        f"{name} {100 * numbers['test_accuracy']:7.2f} {1e3 * seconds['total']:9.2f} {parts} "
        f"{numbers['order_seconds']:8.3f} {numbers['prepare_seconds']:10.3f} {peak:>9}"
    )
