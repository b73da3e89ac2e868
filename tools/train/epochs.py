#!/usr/bin/env python3
"""Times training steps on graphs without a data set, with random features and labels, and prints CSV rows: the time of a
step and the peak memory of each backend and precision.

  epochs.py ogbl-ddi.mtx.xz DD.mtx.xz --device cuda --precision tf32,bf16 > training.csv
  epochs.py graph.mtx --models gcn --widths 64 --backends torch-cached,sptile --steps 3

Graphs are made undirected. A GAT has 8 heads; its width is that of all heads. Memory excludes edges, features and
labels, and includes formats in the library's device memory. `first_peak_mb` is the peak of conversion, planning and the
first step, `peak_mb` that of all later steps. `error` is the maximum difference of the scores before training from
those of the first backend and precision, over their maximum. A captured row runs the step of sptile in a CUDA graph.
"""

import argparse
import csv
import dataclasses
import gc
import pathlib
import statistics
import sys

from backends import BACKENDS, load_backend
from errors import BAD_INPUT, USAGE, TrainError
from recipes import PRECISIONS, RECIPES

COLUMNS = (
    "graph", "nodes", "nonzeros", "model", "width", "backend", "precision", "ms", "first_peak_mb", "peak_mb", "error",
    "note",
)  # fmt: skip
CLASSES, HEADS, LAPS = 16, 8, 5


def parse_arguments(arguments):
    """Returns the parsed command line; argparse exits with 2 if it is invalid."""
    from train import layer_count, name_list, positive

    def names(known):
        return lambda text: name_list(text, known)

    parser = argparse.ArgumentParser(
        prog="epochs.py",
        description=__doc__,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("graphs", nargs="+", metavar="GRAPH", help="files of square matrices")
    parser.add_argument("--models", type=names(RECIPES), default=["gcn", "gat"], metavar="NAME[,NAME...]")
    parser.add_argument(
        "--widths",
        type=lambda text: [positive(word) for word in text.split(",")],
        default=[64],
        metavar="N[,N...]",
        help="widths of features and hidden layers (default: 64)",
    )
    parser.add_argument("--layers", type=layer_count, default=3, help="number of graph layers (default: 3)")
    parser.add_argument(
        "--backends", type=names(BACKENDS), default=["torch-cached", "sptile"], metavar="NAME[,NAME...]"
    )
    parser.add_argument("--precision", type=names(PRECISIONS), default=["fp32"], metavar="NAME[,NAME...]")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--threads", type=positive, help="number of CPU threads")
    parser.add_argument("--steps", type=positive, default=20, help="steps of each of 5 laps (default: 20)")
    parser.add_argument("--capture", action="store_true", help="also time sptile in a CUDA graph")
    return parser.parse_args(arguments)


def read_undirected(path):
    """Returns ([2, E] edges in both directions, sorted by target, without self-loops; number of nodes)."""
    import numpy as np
    import sptile
    import torch

    try:
        matrix = sptile.read(path)
    except sptile.Error as error:
        raise TrainError(error.status, str(error)) from None
    rows, cols = matrix.shape
    if rows != cols:
        raise TrainError(BAD_INPUT, f"{path}: {rows} x {cols}; a graph is square")
    matrix.data = np.ones(matrix.nnz, np.float32)
    matrix = (matrix + matrix.T).tocoo()
    loops = matrix.row == matrix.col
    edges = np.stack([matrix.col[~loops], matrix.row[~loops]]).astype(np.int64)
    return torch.from_numpy(edges), rows


def make_data(edges, nodes, width, device):
    """Returns a DataSet with random features and labels, all nodes of which are trained on."""
    import torch
    from dataset import DataSet, DenseFeatures

    draw = torch.Generator().manual_seed(1)
    x = torch.randn(nodes, width, generator=draw).to(device)
    y = torch.randint(CLASSES, (nodes,), generator=draw).to(device)
    return DataSet(edges.to(device), DenseFeatures(x), y, {"train": slice(None)}, CLASSES)


class Memory:
    """Peak of device memory, without what is there at its creation."""

    def __init__(self, device, layers):
        import torch

        gc.collect()
        self.device, self.layers, self.cuda = device, layers, device.type == "cuda"
        self.base = torch.cuda.memory_allocated(device) if self.cuda else 0
        self.peak()

    def peak(self):
        """Returns the megabytes at the peak since the last call; "" on the CPU."""
        import torch
        from memory import peak_bytes

        if not self.cuda:
            return ""
        peak = peak_bytes(self.device, self.layers) - self.base
        torch.cuda.reset_peak_memory_stats(self.device)
        return f"{peak / 1e6:.1f}"


def warm_up(device):
    """Creates the workspaces of dense products, which all backends share."""
    import torch

    x = torch.ones(64, 64, device=device)
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        torch.nn.functional.linear(x.to(dtype), x.to(dtype), x[0].to(dtype))


def lap(step, steps, clock):
    """Returns the seconds of a step."""
    clock.lap()
    for _ in range(steps):
        step()
    return clock.lap() / steps


def captured(step):
    """Returns a function that replays a step in a CUDA graph."""
    import torch

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def measure(case, data, layers, precision, steps, capture):
    """Trains a model; returns the columns of a row, and the scores before training."""
    import torch
    from models import make_model
    from precision import Precision
    from training import Clock, epoch

    model_name, recipe = case
    device = data.x.device
    arithmetic = Precision(precision, device)
    warm_up(device)
    memory = Memory(device, layers)
    graph = data.make_graph(layers)
    model = make_model(model_name, layers, data, recipe, 1)
    cuda = device.type == "cuda"
    optimizer = torch.optim.Adam(model.parameters(), fused=cuda or None, capturable=cuda)

    def step():
        epoch(model, graph, data, optimizer, arithmetic)

    clock = Clock(device)
    model.eval()
    with torch.no_grad(), arithmetic.products():
        scores = model(data.x, graph).float().cpu()
    step()
    row = {"first_peak_mb": memory.peak()}
    step()
    run = captured(step) if capture else step
    row["ms"] = f"{1e3 * statistics.median(lap(run, steps, clock) for _ in range(LAPS)):.3f}"
    return {**row, "peak_mb": memory.peak()}, scores


def rows_of(path, options, device):
    """Yields the rows of a graph."""
    import torch

    edges, nodes = read_undirected(path)
    about = {"graph": pathlib.Path(path).name.split(".")[0], "nodes": nodes, "nonzeros": edges.shape[1]}
    for model in options.models:
        heads = HEADS if model == "gat" else 1
        for width in options.widths:
            data, first = make_data(edges, nodes, width, device), None
            recipe = dataclasses.replace(
                RECIPES[model], hidden=max(1, width // heads), heads=heads, dropout=0.0, layers=options.layers
            )
            for backend, precision, capture in variants(options):
                row = {
                    **about, "model": model, "width": width, "backend": backend + " captured" * capture,
                    "precision": precision,
                }  # fmt: skip
                try:
                    found, scores = measure(
                        (model, recipe), data, load_backend(backend), precision, options.steps, capture
                    )
                    first = scores if first is None else first
                    row |= {**found, "error": f"{((scores - first).abs().max() / first.abs().max()).item():.1e}"}
                except torch.cuda.OutOfMemoryError:
                    row["note"] = "out of memory"
                gc.collect()
                if device.type == "cuda":
                    torch.cuda.empty_cache()
                yield row


def variants(options):
    """Returns (backend, precision, captured) of each row of a model."""
    listed = [(backend, precision, False) for backend in options.backends for precision in options.precision]
    if options.capture and "sptile" in options.backends:
        listed += [("sptile", precision, True) for precision in options.precision]
    return listed


def main(arguments=None):
    """Returns the exit code."""
    options = parse_arguments(arguments)
    options.partition = None
    try:
        from train import pick_device

        if options.capture and (options.device == "cpu" or "fp16" in options.precision):
            raise TrainError(USAGE, "--capture requires --device cuda, and excludes fp16, whose scaler synchronizes")
        device = pick_device(options)
        writer = csv.DictWriter(sys.stdout, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        for path in options.graphs:
            for row in rows_of(path, options, device):
                writer.writerow(row)
                sys.stdout.flush()
    except TrainError as error:
        print(f"epochs.py: {error}", file=sys.stderr)
        return error.code
    return 0


if __name__ == "__main__":
    sys.exit(main())
