#!/usr/bin/env python3
"""Trains the models of the papers and prints their accuracy and epoch times as one table.

  suite.py --data ../shared/gnn/cora ../shared/gnn/citeseer --device cuda --precision fp32,tf32,bf16,fp16
  suite.py --data made --epochs 50 --json

Each model is trained with sptile in all precisions and with all seeds, and with PyTorch in the first precision and with
the first seed. break-even is the number of epochs after which sptile has recovered its longer preparation over PyTorch.
"""

import argparse
import dataclasses
import json
import sys

from errors import TrainError
from recipes import PRECISIONS


@dataclasses.dataclass(frozen=True)
class Case:
    """A model of a paper."""

    paper: str
    model: str
    layers: int
    hidden: int


CASES = (
    Case("Kipf and Welling, section 5", "gcn", 2, 16),
    Case("Voltrix-SpMM, fig. 13", "gcn", 2, 256),
    Case("Libra, fig. 15", "gcn", 5, 128),  # the paper gives no width
    Case("RSH-SpMM, fig. 17", "gcn", 6, 64),
    Case("RSH-SpMM, fig. 17", "gcn", 6, 256),
    Case("Thekumparampil et al., section 4", "agnn", 2, 16),
    Case("Libra, fig. 15", "agnn", 5, 128),
    Case("HyGNN, fig. 12", "gin", 2, 64),
    Case("HyGNN, fig. 12", "gin", 5, 64),
)


def parse_arguments(arguments):
    """Returns the parsed command line; argparse exits with 2 if it is invalid."""
    from train import name_list, positive, precision_list

    parser = argparse.ArgumentParser(
        prog="suite.py",
        description=__doc__,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", nargs="+", required=True, metavar="FOLDER", help="folders of data sets")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--threads", type=positive, help="number of CPU threads")
    parser.add_argument("--epochs", type=positive, help="number of epochs (default: 200)")
    parser.add_argument("--seeds", type=positive, default=3, metavar="N", help="use the seeds 1 to N (default: 3)")
    parser.add_argument(
        "--precision",
        type=precision_list,
        default=["fp32"],
        metavar="NAME[,NAME...]",
        help=f"{', '.join(PRECISIONS)} (default: fp32)",
    )
    parser.add_argument("--reorder", default="identity", metavar="NAME", help="order of the nodes for sptile")
    parser.add_argument(
        "--models",
        type=lambda text: name_list(text, sorted({case.model for case in CASES})),
        metavar="NAME[,NAME...]",
        help="train only these models",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    return parser.parse_args(arguments)


def command_of(case, data, options, *more):
    """Returns the arguments of train.py for a case."""
    words = [case.model, "--data", data, "--layers", case.layers, "--hidden", case.hidden, "--device", options.device]
    for name in ("threads", "epochs"):
        if getattr(options, name) is not None:
            words += [f"--{name}", getattr(options, name)]
    return [str(word) for word in [*words, *more, "-q"]]


def runs_of(case, data, options):
    """Trains a case on a data set; returns the runs, those of PyTorch first."""
    from report import set_break_even
    from train import parse_arguments as parse
    from train import run

    ours = ["--backend", "sptile", "--seeds", options.seeds, "--precision", ",".join(options.precision)]
    requests = (
        ("--backend", "torch", "--precision", options.precision[0]),
        (*ours, "--reorder", options.reorder),
    )
    runs = [one for more in requests for one in run(parse(command_of(case, data, options, *more)))[1]]
    set_break_even(runs)
    return runs


def rows_of(case, data, runs):
    """Returns a row for each backend and precision: means over the seeds."""
    from report import configuration, summaries

    means = summaries(runs)
    first = {}
    for run in runs:
        first.setdefault(configuration(run), run)
    return [
        {
            "data": data,
            **dataclasses.asdict(case),
            "backend": run.backend,
            "precision": run.precision,
            "order": run.order,
            **mean,
            "break_even_epochs": run.break_even_epochs,
        }
        for run, mean in zip(first.values(), means.values(), strict=True)
    ]


def as_text(rows):
    """Returns a table with a line for each row."""
    lines = [
        f"{'data':<24} {'model':<5} {'layers':>6} {'hidden':>6} {'backend':<7} {'prec.':<5} {'test %':>7} {'+-':>5} "
        f"{'ms/epoch':>9} {'order s':>8} {'prepare s':>10} {'break-even':>11}"
    ]
    for row in rows:
        even = "-" if row["break_even_epochs"] is None else f"{row['break_even_epochs']:.0f} epochs"
        lines.append(
            f"{row['data'][-24:]:<24} {row['model']:<5} {row['layers']:>6} {row['hidden']:>6} {row['backend']:<7} "
            f"{row['precision']:<5} {100 * row['test_accuracy']:7.2f} {100 * row['test_accuracy_deviation']:5.2f} "
            f"{1e3 * row['seconds_per_epoch']['total']:9.2f} {row['order_seconds']:8.3f} "
            f"{row['prepare_seconds']:10.3f} {even:>11}"
        )
    return "\n".join(lines)


def main(arguments=None):
    """Returns the exit code."""
    options = parse_arguments(arguments)
    cases = [case for case in CASES if options.models is None or case.model in options.models]
    try:
        rows = []
        for data in options.data:
            for case in cases:
                rows += rows_of(case, data, runs_of(case, data, options))
                print(f"suite.py: {data}: {case.model}, {case.layers} layers, hidden {case.hidden}", file=sys.stderr)
    except TrainError as error:
        print(f"suite.py: {error}", file=sys.stderr)
        return error.code
    print(json.dumps({"schema_version": 1, "rows": rows}, indent=2) if options.json else as_text(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
