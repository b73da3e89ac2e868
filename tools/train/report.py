"""Output of the tool: JSON, or a table."""

import dataclasses
import statistics

SCHEMA_VERSION = 1


def set_break_even(runs):
    """Compares each run with the first backend's run of the same seed: sets the number of epochs after which its
    longer preparation has paid off."""
    first = {run.seed: run for run in runs if run.backend == runs[0].backend}
    for run in runs:
        other = first[run.seed]
        gain = other.seconds_per_epoch["total"] - run.seconds_per_epoch["total"]
        cost = run.prepare_seconds - other.prepare_seconds
        if run is not other and gain > 0:
            run.break_even_epochs = max(0.0, cost / gain)


def summaries(runs):
    """Returns backend -> means over its seeds."""
    by_backend = {}
    for run in runs:
        by_backend.setdefault(run.backend, []).append(run)
    return {
        name: {
            "test_accuracy": statistics.fmean(run.test_accuracy for run in group),
            "seconds_per_epoch": {
                part: statistics.fmean(run.seconds_per_epoch[part] for run in group)
                for part in group[0].seconds_per_epoch
            },
            "prepare_seconds": statistics.fmean(run.prepare_seconds for run in group),
        }
        for name, group in by_backend.items()
    }


def as_json(about, runs):
    """Returns a dictionary; test_accuracy and seconds_per_epoch at the top level are those of the first backend."""
    backends = summaries(runs)
    first = backends[runs[0].backend]
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
    lines = [
        "{data}: {nodes} nodes, {edges} edges, {features} features, {classes} classes; "
        "{model}, {epochs} epochs, hidden {hidden}, {device}".format(**about),
        f"{'backend':<8} {'seed':>6} {'test %':>7} {'ms/epoch':>9} {'sparse':>8} {'dense':>8} {'rest':>8} "
        f"{'prepare s':>10} {'break-even':>11}",
    ]
    for run in runs:
        even = "-" if run.break_even_epochs is None else f"{run.break_even_epochs:.0f} epochs"
        lines.append(
            row(run.backend, str(run.seed), run.test_accuracy, run.seconds_per_epoch, run.prepare_seconds)
            + f" {even:>11}"
        )
    if len({run.seed for run in runs}) > 1:
        lines += [row(name, "mean", *mean.values()) for name, mean in summaries(runs).items()]
    return "\n".join(lines)


def row(backend, seed, accuracy, seconds, prepare):
    parts = " ".join(f"{1e3 * seconds[kind]:8.2f}" for kind in ("sparse", "dense", "rest"))
    return (
        f"{backend:<8} {seed:>6} {100 * accuracy:7.2f} {1e3 * seconds['total']:9.2f} {parts} {prepare:10.3f}"
    )
