#!/usr/bin/env python3
"""Seconds of a training epoch and peak device memory on several devices, as CSV.

    sptile gen planted --rows 1000000 --edges 8000000 --mix 0.01 --field pattern -o graph.h5
    sptile partition graph.h5 --parts 2 --method rows -o parts-2
    sptile partition graph.h5 --parts 1 --method rows -o parts-1
    torchrun --nproc-per-node 1 tools/bench/train_partition.py parts-1 --device cuda --losses one.json > one.csv
    torchrun --nproc-per-node 2 tools/bench/train_partition.py parts-2 --device cuda --compare one.json > two.csv

Trains the models of tools/train without dropout. Features and labels are computed on the device from the seed and the ids
of the rows, so that they are the same for any partition: the class of a row is `row * classes / rows`, and the feature of
that number is larger by 1. Every epoch is a step on all rows.

Before it runs, the tensors that a step keeps are counted and printed. `counted_gib` is that number for the largest
process, `peak_gib` the maximum of allocated device memory, `epoch_s` the median of the slowest process without the first
epoch. --compare ends with 1 if the losses of the first epochs differ from those of another run by more than rounding.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "train"))

import partitioned_layers
import torch
from dataset import DenseFeatures
from models import make_model
from partitioned import PartOfDataSet, process_group
from precision import Precision
from recipes import RECIPES
from sptile.torch.distributed import DistSparseMatrix
from training import epoch, make_optimizer

COLUMNS = ("model", "parts", "processes", "device", "wire", "rows", "nnz", "features", "hidden", "heads", "classes")
COLUMNS += ("layers", "epochs", "epoch_s", "counted_gib", "peak_gib", "first_loss", "last_loss", "error")
GIB = 2**30
COMPARED, TOLERANCE = 5, 1e-4  # losses of the first epochs, relative
BLOCK = 1 << 22  # features that are computed at once


def mixed(keys: torch.Tensor) -> torch.Tensor:
    """Returns pseudorandom 31-bit numbers of int64 keys: the finalizer of MurmurHash3 on 32 bits."""
    low = keys & 0xFFFFFFFF
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        low = ((low ^ (low >> shift)) * factor) & 0xFFFFFFFF
    return low >> 1


def random_features(rows: torch.Tensor, labels: torch.Tensor, width: int, seed: int) -> torch.Tensor:
    """Returns [len(rows), width] numbers from -0.5 to 0.5 of the seed, row id and column, plus 1 at the label."""
    out = torch.empty(len(rows), width, device=rows.device)
    column = mixed(torch.arange(width, device=rows.device) + (seed << 20))
    step = max(BLOCK // width, 1)
    for first in range(0, len(rows), step):
        block = mixed(rows[first : first + step, None] + (column << 1))
        out[first : first + step] = block.float() / 2**31 - 0.5
    out.view(-1)[torch.arange(len(rows), device=rows.device) * width + labels] += 1
    return out


def data_of(graph: Any, options: argparse.Namespace) -> PartOfDataSet:
    count = graph.shape[0]
    y = graph.rows * options.classes // max(count, 1)
    x = DenseFeatures(random_features(graph.rows, y, options.features, options.seed))
    nodes = {"train": torch.arange(len(y), device=y.device)}
    return PartOfDataSet(graph, x, y, nodes, {"train": count}, options.classes, count)


def counted(graph: Any, model: str, options: argparse.Namespace) -> dict[str, int]:
    """Returns the bytes of the tensors of this process during a step, in float32, with the format csr, without copies of
    keys and values of GAT for boundary rows."""
    owned, local, halo = graph.owned, graph.local.nnz, graph.halo.nnz
    needed, sent, value = graph.needed, len(graph._exchange.send_rows), 4
    wide = options.hidden * (options.heads if model == "gat" else 1)
    between = options.layers - 1
    rows = owned * wide * value  # of a tensor between two layers
    tensors = {"features": owned * options.features * value, "labels, rows": 3 * owned * 8}
    pattern = 2 * 8 * owned + 4 * (local + halo)  # row pointers of local and halo, columns
    if model == "gcn":
        # A + I with values, the order of its nonzeros, and the values of the halo.
        tensors["matrix"] = pattern + 8 * owned + (local + owned) * (4 + value + 8) + halo * value
        if not graph.symmetric:
            tensors["transposed matrix"] = 8 * (owned + needed) + (local + owned + halo) * (4 + value + 8)
        first = options.features if options.features < 2 * wide else 0  # A X, the operand of the first weights
        tensors["activations"] = owned * first * value + between * rows  # results of ReLU
    else:
        # The joined pattern and that with loops, its transpose, and the orders of both.
        tensors["matrix"] = pattern + (8 * owned + 4 * (local + halo + owned)) * 2 + 16 * (local + halo + owned)
        # Of each layer: x W with the rows of others, the result, its ELU, and scores and statistics of each head.
        heads = 4 * options.heads * value * owned
        tensors["activations"] = between * (3 * rows + needed * wide * value + heads)
    tensors["gradients of activations"] = 2 * rows
    tensors["exchange"] = 2 * (needed + sent) * wide * value
    tensors["scores"] = 3 * owned * options.classes * value  # logits, their log-softmax, and the gradient
    return tensors


def show(graph: Any, model: str, tensors: dict[str, int]) -> None:
    """Prints the count of this process."""
    parts = ", ".join(f"{name} {size / GIB:.3f}" for name, size in tensors.items())
    total = sum(tensors.values()) / GIB
    print(f"{model}, process {graph.rank}: {graph.owned} rows, {total:.3f} GiB: {parts}", file=sys.stderr, flush=True)


def trained(graph: Any, model_name: str, options: argparse.Namespace) -> tuple[list[float], list[float], float]:
    """Returns losses, seconds of each epoch of the slowest process, and the peak of allocated bytes of any process."""
    device = graph.device
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    data = data_of(graph, options)
    recipe = dataclasses.replace(
        RECIPES[model_name],
        hidden=options.hidden,
        heads=options.heads,
        layers=options.layers,
        dropout=0.0,
        weight_decay=0.0,
        learning_rate=0.01,
    )
    model = make_model(model_name, partitioned_layers, data, recipe, options.seed)
    optimizer, arithmetic = make_optimizer(model, recipe), Precision(options.precision, device)
    losses, seconds = [], []
    for _ in range(options.epochs):
        data.of_all(0)  # all processes begin together
        begin = time.perf_counter()
        losses.append(epoch(model, graph, data, optimizer, arithmetic).item())  # waits for the device
        seconds.append(max(own for (own,) in data.of_all(time.perf_counter() - begin)))
    peak = torch.cuda.max_memory_allocated(device) if device.type == "cuda" else 0
    return losses, seconds, max(own for (own,) in data.of_all(peak))


def row_of(model: str, options: argparse.Namespace, device: torch.device) -> tuple[dict[str, Any], list[float]]:
    """Trains one model; returns a row of the CSV and the losses. Memory that ends is the error of one process."""
    graph = DistSparseMatrix(options.parts, device=device, format=options.format, never_slower=None).unweighted()
    tensors = counted(graph, model, options)
    show(graph, model, tensors)
    own = sum(tensors.values())
    probe = PartOfDataSet(graph, None, None, {}, {}, options.classes, graph.shape[0])
    most = max(one for (one,) in probe.of_all(own))
    row = {
        "model": model,
        "parts": Path(options.parts).name,
        "processes": graph.world_size,
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "wire": graph.wire,
        "rows": graph.shape[0],
        "nnz": graph.nnz,
        "features": options.features,
        "hidden": options.hidden,
        "heads": options.heads if model == "gat" else 1,
        "classes": options.classes,
        "layers": options.layers,
        "epochs": options.epochs,
        "counted_gib": f"{most / GIB:.2f}",
    }
    if options.limit_gib is not None and most > options.limit_gib * GIB:
        return {**row, "error": f"counted more than {options.limit_gib:g} GiB"}, []
    try:
        losses, seconds, peak = trained(graph, model, options)
    except torch.OutOfMemoryError:
        if graph.world_size > 1:
            raise  # other processes wait for this one, and end with it
        return {**row, "error": "out of memory"}, []
    row |= {"epoch_s": f"{statistics.median(seconds[1:] or seconds):.5g}", "peak_gib": f"{peak / GIB:.2f}" if peak else ""}
    return {**row, "first_loss": f"{losses[0]:.6g}", "last_loss": f"{losses[-1]:.6g}"}, losses


def differing(losses: dict[str, list[float]], others: dict[str, list[float]]) -> list[str]:
    """Returns the models whose first losses differ."""
    return [
        model
        for model, found in losses.items()
        if found and others.get(model)
        and any(abs(a - b) > TOLERANCE * abs(b) for a, b in zip(found[:COMPARED], others[model][:COMPARED], strict=False))
    ]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", help="directory of `sptile partition`, one part per process")
    parser.add_argument("--models", default="gcn,gat", help="models [default: gcn,gat]")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--format", default="auto", help="storage format [default: auto]")
    parser.add_argument("--precision", choices=("fp32", "tf32"), default="fp32", help="of products [default: fp32]")
    for name, default, what in (
        ("features", 128, "width of the features"),
        ("hidden", 128, "width of hidden layers, or of each head"),
        ("heads", 4, "heads of gat"),
        ("classes", 32, "classes, at most features"),
        ("layers", 3, "graph layers"),
        ("epochs", 10, "epochs"),
        ("seed", 1, "seed of features and parameters"),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{what} [default: {default}]")
    parser.add_argument("--limit-gib", type=float, help="do not train if a process counts more")
    parser.add_argument("--losses", metavar="FILE", help="write the losses as JSON")
    parser.add_argument("--compare", metavar="FILE", help="losses of another run, which must be equal up to rounding")
    options = parser.parse_args()
    if not 1 <= options.classes <= options.features or min(options.hidden, options.heads, options.epochs) < 1:
        parser.error("--classes must be from 1 to --features; --hidden, --heads and --epochs at least 1")
    if options.layers < 2 or not set(options.models.split(",")) <= {"gcn", "gat"}:
        parser.error("--layers must be at least 2, and --models gcn, gat or both")
    return options


def main() -> int:
    options = parse_arguments()
    others = json.loads(Path(options.compare).read_text()) if options.compare else {}
    with process_group(options.device) as device:
        first = torch.distributed.get_rank() == 0
        writer = csv.DictWriter(sys.stdout, COLUMNS, restval="", lineterminator="\n")
        if first:
            writer.writeheader()
        losses = {}
        for model in options.models.split(","):
            row, losses[model] = row_of(model, options, device)
            if first:
                writer.writerow(row)
                sys.stdout.flush()
            if device.type == "cuda":
                torch.cuda.empty_cache()
    if first and options.losses:
        Path(options.losses).write_text(json.dumps(losses))
    if first and (bad := differing(losses, others)):
        print(f"train_partition.py: losses of {', '.join(bad)} differ from those in {options.compare}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
