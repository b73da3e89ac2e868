#!/usr/bin/env python3
"""Trains a graph network on a folder with graph.mtx, features.mtx and nodes.tsv, and says how well and how
fast.

  train.py gcn --data ../shared/gnn/cora
  train.py gat --data made --compare torch,sptile --device cuda --seed 1,2,3 --svg loss.svg
  train.py gcn --data made --backend sptile --layers 6 --hidden 64 --reorder identity,loa --precision fp32,bf16

sptile gen community --data-set -o made/graph.mtx makes such a folder.

  sptile partition made/graph.mtx --parts 4 -o parts
  torchrun --nproc-per-node 4 train.py gcn --data made --partition parts
"""

import argparse
import dataclasses
import json
import os
import pathlib
import sys

from backends import BACKENDS, load_backend
from errors import DEVICE, IO, UNSUPPORTED, USAGE, TrainError
from recipes import PRECISIONS, RECIPES


def parse_arguments(arguments):
    """Returns the parsed command line; argparse exits with 2 if it is invalid."""
    parser = argparse.ArgumentParser(
        prog="train.py",
        description=__doc__,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", choices=RECIPES)
    parser.add_argument("--data", required=True, metavar="FOLDER", help="folder of the data set")
    seeds = parser.add_mutually_exclusive_group()
    seeds.add_argument(
        "--seed",
        type=seed_list,
        default=[1],
        metavar="S[,S...]",
        help="random seeds of parameters and dropout, the same for all backends, except dropout of attention weights "
        "(default: 1)",
    )
    seeds.add_argument(
        "--seeds", type=seed_count, dest="seed", metavar="N", help="train with the seeds 1 to N"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--backend", choices=BACKENDS, help="library of the layers (default: torch; with --partition sptile)"
    )
    which.add_argument(
        "--compare", type=backend_list, metavar="NAME,NAME...", help="backends to compare; the first is the baseline"
    )
    parser.add_argument(
        "--partition",
        metavar="DIR",
        help="train in several processes started by torchrun, each with one part of the graph; "
        "`sptile partition` creates DIR from graph.mtx",
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--threads", type=positive, help="number of CPU threads (default: PyTorch's, one per core)")
    parser.add_argument("--epochs", type=positive, help="number of epochs (default: the recipe's)")
    parser.add_argument(
        "--hidden", type=positive, help="width of the hidden layers or of each head (default: the recipe's)"
    )
    parser.add_argument("--layers", type=layer_count, help="number of graph layers, at least 2 (default: 2)")
    parser.add_argument(
        "--reorder",
        type=name_list,
        default=["identity"],
        metavar="NAME[,NAME...]",
        help="orders of the nodes, of `sptile list reorderers`; the first is the baseline (default: identity)",
    )
    precision = parser.add_mutually_exclusive_group()
    precision.add_argument(
        "--precision",
        type=precision_list,
        default=["fp32"],
        metavar="NAME[,NAME...]",
        help="precision of dense and sparse products: fp32, tf32 (CUDA), bf16 or fp16 with autocast; the first is the "
        "baseline (default: fp32)",
    )
    precision.add_argument(
        "--tf32", action="store_const", const=["tf32"], dest="precision", help="the same as --precision tf32"
    )
    parser.add_argument("--svg", metavar="FILE", help="write loss curves")
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="do not show progress")
    return parser.parse_args(arguments)


def seed_list(text):
    """Parses comma-separated integers from 0 to 2^63 - 1, without duplicates."""
    seeds = [int(word) for word in text.split(",")]
    if not all(0 <= seed < 2**63 for seed in seeds) or len(set(seeds)) < len(seeds):
        raise argparse.ArgumentTypeError(f"'{text}': expected distinct non-negative integers")
    return seeds


def seed_count(text):
    """Parses a number N; returns the seeds 1 to N."""
    return list(range(1, positive(text) + 1))


def name_list(text, known=None):
    """Parses comma-separated names, without duplicates, of `known` if given."""
    names = text.split(",")
    if (known and not set(names) <= set(known)) or len(set(names)) < len(names) or "" in names:
        of = f" from {', '.join(known)}" if known else ""
        raise argparse.ArgumentTypeError(f"'{text}': expected distinct names{of}")
    return names


def backend_list(text):
    """Parses comma-separated backend names."""
    return name_list(text, BACKENDS)


def precision_list(text):
    """Parses comma-separated precisions."""
    return name_list(text, PRECISIONS)


def layer_count(text):
    """Parses a number of layers, at least 2."""
    if (count := positive(text)) < 2:
        raise argparse.ArgumentTypeError(f"{text}: a model has at least 2 layers")
    return count


def positive(text):
    """Parses a positive integer."""
    number = int(text)
    if not 1 <= number < 2**31:
        raise argparse.ArgumentTypeError(f"{text} is outside the range 1 to 2147483647")
    return number


def make_progress(options, epochs):
    """Returns a function that redraws one line, on a terminal only."""
    shown = not options.quiet and sys.stderr.isatty()

    def progress(run, epoch):
        _, loss, accuracy = run.validation[-1]
        end = "\n" if epoch == epochs else ""
        line = (
            f"\r{options.model} {run.backend} {run.precision} seed {run.seed}: epoch {epoch}/{epochs}, training loss "
            f"{run.losses[-1]:.3f}, validation {loss:.3f}, {100 * accuracy:.1f} %"
        )
        if shown:
            print(line, end=end, file=sys.stderr, flush=True)

    return progress


def check_svg(options):
    """Checks the output before training, so that errors are reported early."""
    if not options.svg:
        return
    if os.path.exists(options.svg) and not options.force:
        raise TrainError(USAGE, f"{options.svg}: exists; --force replaces it")
    if not pathlib.Path(options.svg).absolute().parent.is_dir():
        raise TrainError(IO, f"{options.svg}: no such folder")


def write_svg(options, runs):
    """Writes loss curves of all runs; the file appears completely or not at all."""
    from loss_curve import loss_curve

    from report import configuration, labels

    names = labels(runs)
    curves = [
        (f"{names[configuration(run)]}, seed {run.seed}", run.losses, [(e, loss) for e, loss, _ in run.validation])
        for run in runs
    ]
    unfinished = f"{options.svg}.{os.getpid()}"
    try:
        pathlib.Path(unfinished).write_text(loss_curve(f"{options.model} on {options.data}: loss", curves))
        os.replace(unfinished, options.svg)
    except OSError as error:
        raise TrainError(IO, f"{options.svg}: {error.strerror}") from None


def pick_device(options):
    """Returns the torch device, and sets the number of threads."""
    import torch

    from precision import check_precisions

    check_precisions(options.precision, options.device, options.partition)

    if options.device == "cuda" and not torch.cuda.is_available():
        raise TrainError(DEVICE, "no CUDA device that PyTorch can use; --device cpu runs without one")
    if options.threads:
        torch.set_num_threads(options.threads)  # also applies to sptile.torch
    return torch.device(options.device)


def run(options):
    """Trains as the options request. Returns the data of the report, (about, runs), or None in all processes except
    the first."""
    try:
        import numpy  # noqa: F401
        import torch  # noqa: F401
    except ImportError as error:
        raise TrainError(UNSUPPORTED, f"{error}; pip install numpy torch") from None
    from dataset import read_data_set

    check_svg(options)
    device = pick_device(options)
    names = options.compare or [options.backend or "torch"]
    if not options.partition:
        from ordering import reordered

        layers = {name: load_backend(name) for name in names}
        given = read_data_set(options.data)
        orders = {name: reordered(given, name) for name in options.reorder}
        return train_all(
            options, {name: (data.to(device), seconds) for name, (data, seconds) in orders.items()}, layers
        )
    if options.reorder != ["identity"]:
        raise TrainError(USAGE, "--partition has no --reorder; `sptile partition` orders the nodes")
    return run_part(options)


def run_part(options):
    """Trains in one process of several; see run."""
    import partitioned

    partitioned.check_request(options.compare or (options.backend and [options.backend]))
    layers = {"sptile": load_backend("sptile", "partitioned_layers")}
    with partitioned.process_group(options.device) as device:
        data = partitioned.read_part(options.data, options.partition, device)
        try:
            about, runs = train_all(
                options, {"identity": (data, 0.0)}, layers, first=data.graph.rank == 0
            )
        except OSError as error:  # error of sptile for exited ranks
            raise TrainError(IO, str(error)) from None
        about["partition"], about["processes"] = options.partition, data.graph.world_size
        return (about, runs) if data.graph.rank == 0 else None


def train_all(options, orders, layers, first=True):
    """Trains with each backend, order, precision and seed; the first process shows progress and draws. `orders` has the
    data set in each order, and the seconds of the reordering."""
    from report import set_break_even
    from training import train

    recipe = RECIPES[options.model]
    recipe = dataclasses.replace(
        recipe,
        epochs=options.epochs or recipe.epochs,
        hidden=options.hidden or recipe.hidden,
        layers=options.layers or recipe.layers,
    )
    progress = make_progress(options, recipe.epochs) if first else lambda run, epoch: None
    runs = [
        train(
            options.model, name, layers[name], data, recipe, seed, progress, precision, (order, seconds)
        )
        for name in layers
        for order, (data, seconds) in orders.items()
        for precision in options.precision
        for seed in options.seed
    ]
    set_break_even(runs)
    if options.svg and first:
        write_svg(options, runs)
    data, _ = next(iter(orders.values()))
    about = {
        "model": options.model,
        "data": options.data,
        "nodes": data.node_count,
        "edges": data.edge_count,
        "features": data.x.shape[1],
        "classes": data.classes,
        "device": options.device,
        "tf32": options.precision == ["tf32"],
        "precision": options.precision,
        "reorder": options.reorder,
        "svg": options.svg,
        **dataclasses.asdict(recipe),
    }
    return about, runs


def main(arguments=None):
    """Returns the exit code."""
    options = parse_arguments(arguments)
    try:
        done = run(options)
    except TrainError as error:
        print(f"train.py: {error}", file=sys.stderr)
        return error.code
    if done is None:
        return 0
    about, runs = done
    from report import as_json, as_text

    print(json.dumps(as_json(about, runs), indent=2) if options.json else as_text(about, runs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
