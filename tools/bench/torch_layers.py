#!/usr/bin/env python3
"""Times training steps of graph networks over whole graphs: torch, PyG and sptile.torch side by side.

    tools/bench/torch_layers.py GRAPH... [--models gcn,gat,agnn] [--hidden 64,256] [--csv FILE]

GRAPH is a bundle or a Matrix Market file, taken as an undirected graph without weights. What is timed is
forward, backward and a step of Adam:

    gcn   3 layers, H features in, hidden H, 16 classes, cross entropy
    gat   one layer of 8 heads, 64 features to 8 x 8       agnn   one layer, 64 features

    torch        gcn as users write it: torch.sparse.mm of a CSR tensor, whose backward transposes each time
    torch kept   the same with an autograd.Function that keeps the transpose
    pyg          layers of torch_geometric on edge_index, where it is installed
    sptile       sptile.torch.nn        sptile graph   the same, the whole step captured in a CUDA graph

Before anything is timed the results and all gradients of a step are compared with those of the first backend
that runs. Times are medians. `first_ms` is from edges on the device to the first gradients: what is
converted, chosen and planned, too, where libraries have been used before. `peak_mb` is what the step's tensors take at most beyond what was there before
the backend was set up, its matrices and what the library allocates itself included.
"""

from __future__ import annotations

import argparse
import csv
import gc
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse
import torch
from torch import Tensor, nn
from torch.nn import functional

import sptile
import sptile.torch as st

CLASSES = 16
TOLERANCE = {"tf32": 2e-2, "fp32": 1e-3}
COLUMNS = (
    "graph",
    "nodes",
    "entries",
    "model",
    "width",
    "backend",
    "precision",
    "ms",
    "first_ms",
    "peak_mb",
    "error",
    "note",
)


# ---- Graphs ----


def read_graph(path: Path) -> scipy.sparse.csr_array:
    """The pattern of A + A^T."""
    if path.suffix == ".h5":
        with sptile.open(path) as bundle:
            arrays = bundle.csr()
            ones = np.ones(bundle.nnz, np.int8)
            csr = scipy.sparse.csr_array((ones, arrays.indices.copy(), arrays.indptr.copy()), shape=bundle.shape)
    else:
        csr = sptile.read(path)
    if csr.shape[0] != csr.shape[1]:
        raise SystemExit(f"{path}: {csr.shape[0]} x {csr.shape[1]}; a graph is square")
    pattern = scipy.sparse.csr_array((np.ones(csr.nnz, np.int8), csr.indices, csr.indptr), shape=csr.shape)
    both = (pattern + pattern.T).tocsr()
    both.sort_indices()
    return both


@dataclass
class Problem:
    """A graph on a device, and what a model learns from."""

    name: str
    crow: Tensor
    col: Tensor
    features: Tensor
    labels: Tensor

    @property
    def nodes(self) -> int:
        return self.crow.numel() - 1

    def matrix(self) -> st.SparseMatrix:
        return st.SparseMatrix(self.crow, self.col, shape=(self.nodes, self.nodes))

    def edge_index(self) -> Tensor:
        row = torch.repeat_interleave(torch.arange(self.nodes, device=self.crow.device), self.crow.diff())
        return torch.stack([self.col.long(), row])


def problem(path: Path, graph: scipy.sparse.csr_array, width: int, device: str) -> Problem:
    generator = torch.Generator().manual_seed(1)
    nodes = graph.shape[0]
    features = torch.randn(nodes, width, generator=generator)
    labels = torch.randint(0, CLASSES, (nodes,), generator=generator)
    crow, col = (
        torch.from_numpy(graph.indptr.astype(np.int64)),
        torch.from_numpy(graph.indices.astype(np.int64)),
    )
    return Problem(path.name.split(".")[0], *(x.to(device) for x in (crow, col, features, labels)))


def ring(nodes: int, width: int, device: str) -> Problem:
    """A small graph, to use libraries for the first time with."""
    ids = torch.arange(nodes)
    col = torch.stack([(ids - 1) % nodes, (ids + 1) % nodes], 1).sort(1).values.flatten()
    tensors = (2 * torch.arange(nodes + 1), col, torch.ones(nodes, width), ids % CLASSES)
    return Problem("ring", *(x.to(device) for x in tensors))


# ---- Models by backend ----


class KeptTranspose(torch.autograd.Function):
    """A x, with A^T there for backward."""

    @staticmethod
    def forward(ctx, a, a_t, x):  # type: ignore[no-untyped-def]
        ctx.a_t = a_t
        return torch.sparse.mm(a, x)

    @staticmethod
    def backward(ctx, g):  # type: ignore[no-untyped-def]
        return None, None, torch.sparse.mm(ctx.a_t, g)


class Gcn(nn.Module):
    """Three layers; `multiply` is the product with the normalised matrix."""

    def __init__(self, width: int, layer: Callable[[int, int], nn.Module]) -> None:
        super().__init__()
        self.layers = nn.ModuleList([layer(width, width), layer(width, width), layer(width, CLASSES)])

    def forward(self, x: Tensor, graph: object) -> Tensor:
        for i, layer in enumerate(self.layers):
            x = layer(x, graph)
            x = x.relu() if i < 2 else x
        return x


class PlainConv(nn.Module):
    """A (x W) + b with the parameters of GCNConv."""

    def __init__(self, n: int, m: int) -> None:
        super().__init__()
        self.lin = nn.Linear(n, m, bias=False)
        self.bias = nn.Parameter(torch.zeros(m))

    def forward(self, x: Tensor, graph: Callable[[Tensor], Tensor]) -> Tensor:
        return graph(self.lin(x)) + self.bias


def torch_gcn(p: Problem, width: int, kept: bool) -> tuple[nn.Module, object]:
    a = p.matrix().gcn_norm().to_torch()
    if not kept:
        return Gcn(width, PlainConv), lambda x: torch.sparse.mm(a, x)
    a_t = p.matrix().gcn_norm().t().to_torch()
    return Gcn(width, PlainConv), lambda x: KeptTranspose.apply(a, a_t, x)


def pyg_layer(name: str) -> Callable[..., nn.Module]:
    import torch_geometric.nn

    return getattr(torch_geometric.nn, name)


def attention_layer(layers: Callable[[str], Callable[..., nn.Module]], model: str, width: int) -> nn.Module:
    return layers("GATConv")(width, 8, heads=8) if model == "gat" else layers("AGNNConv")()


def set_up(p: Problem, model: str, width: int, backend: str) -> tuple[nn.Module, object]:
    """A model and what it takes as its graph."""
    if backend.startswith("torch"):
        return torch_gcn(p, width, backend == "torch kept")
    ours = backend.startswith("sptile")
    layers = (lambda name: getattr(st.nn, name)) if ours else pyg_layer
    graph: object = p.matrix() if ours else p.edge_index()
    if model != "gcn":
        return attention_layer(layers, model, width), graph
    return Gcn(width, layers("GCNConv")), graph.gcn_norm() if isinstance(graph, st.SparseMatrix) else graph


BACKENDS = {
    "gcn": ("torch", "torch kept", "pyg", "sptile", "sptile graph"),
    "gat": ("pyg", "sptile", "sptile graph"),
    "agnn": ("pyg", "sptile", "sptile graph"),
}


# ---- Steps ----


class Training:
    """A model with its optimiser, and one step of it."""

    def __init__(self, p: Problem, model: str, width: int, backend: str) -> None:
        torch.manual_seed(3)
        module, self.graph = set_up(p, model, width, backend)
        self.model, self.p, self.classify = module.to(p.features.device), p, model == "gcn"
        with torch.no_grad():
            generator = torch.Generator().manual_seed(5)
            for _name, parameter in sorted(self.model.named_parameters()):
                shape = parameter.shape
                numbers = torch.randn(shape, generator=generator) / max(shape[-1], 1) ** 0.5
                parameter.copy_(numbers if parameter.numel() > 1 else torch.ones(shape))
        self.x = p.features.clone().requires_grad_(model != "gcn")
        cuda = p.features.is_cuda
        self.optimizer = torch.optim.Adam(self.model.parameters(), 0.01, fused=cuda or None, capturable=cuda)
        self.replay: Callable[[], object] | None = None

    def gradients(self) -> tuple[Tensor, ...]:
        """The result, then the gradients of a step."""
        out = self.model(self.x, self.graph)
        loss = functional.cross_entropy(out, self.p.labels) if self.classify else (out * out).mean()
        learned = [parameter for _name, parameter in sorted(self.model.named_parameters())]
        found = torch.autograd.grad(loss, learned + ([] if self.classify else [self.x]))
        return (out.detach(), *found)

    def step(self) -> None:
        self.optimizer.zero_grad(set_to_none=self.replay is None)
        out = self.model(self.x, self.graph)
        loss = functional.cross_entropy(out, self.p.labels) if self.classify else (out * out).mean()
        loss.backward()
        self.optimizer.step()

    def capture(self) -> None:
        """Puts the whole step in a graph."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.step()
        torch.cuda.current_stream().wait_stream(side)
        self.optimizer.zero_grad(set_to_none=True)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.step()
        self.replay = graph.replay

    def run(self) -> None:
        if self.replay is not None:
            self.replay()
        else:
            self.step()


def relative_error(found: tuple[Tensor, ...], expected: tuple[Tensor, ...]) -> float:
    """The largest of all results."""
    pairs = zip(found, expected, strict=True)
    return max(float((a.double() - b.double()).norm() / b.double().norm().clamp(min=1e-30)) for a, b in pairs)


def milliseconds(training: Training, repeat: int) -> float:
    times = []
    cuda = training.x.is_cuda
    for i in range(-3, repeat):
        if cuda:
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            training.run()
            end.record()
            end.synchronize()
            took = begin.elapsed_time(end)
        else:
            started = time.perf_counter()
            training.run()
            took = (time.perf_counter() - started) * 1e3
        if i >= 0:
            times.append(took)
    return statistics.median(times)


class Memory:
    """Megabytes on the device since this was made: of torch's tensors at most, and of all others now."""

    def __init__(self) -> None:
        self.cuda = torch.cuda.is_available() and torch.cuda.is_initialized()
        if self.cuda:
            gc.collect()
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            self.before, self.others = torch.cuda.memory_allocated(), self._others()

    @staticmethod
    def _others() -> int:
        free, total = torch.cuda.mem_get_info()
        return total - free - torch.cuda.memory_reserved()

    def megabytes(self) -> float:
        if not self.cuda:
            return float("nan")
        peak = torch.cuda.max_memory_allocated() - self.before
        return (peak + max(self._others() - self.others, 0)) / 2**20


def measure(p: Problem, model: str, width: int, arguments: argparse.Namespace) -> Iterator[dict[str, object]]:
    """A row for each backend."""
    expected: tuple[Tensor, ...] | None = None
    for backend in BACKENDS[model]:
        wanted = not arguments.backends or backend in arguments.backends.split(",")
        if not wanted or (backend == "sptile graph" and not p.features.is_cuda):
            continue
        row: dict[str, object] = {
            "graph": p.name,
            "nodes": p.nodes,
            "entries": p.col.numel(),
            "model": model,
            "width": width,
            "backend": backend,
            "precision": arguments.precision,
        }
        training = None
        try:
            device = str(p.features.device)
            Training(ring(64, width, device), model, width, backend).gradients()
            memory = Memory()
            started = time.perf_counter()
            training = Training(p, model, width, backend)
            found = training.gradients()
            if p.features.is_cuda:
                torch.cuda.synchronize()
            row["first_ms"] = (time.perf_counter() - started) * 1e3
            row["error"] = 0.0 if expected is None else relative_error(found, expected)
            expected = tuple(x.clone() for x in found) if expected is None else expected
            del found
            if float(str(row["error"])) > TOLERANCE[arguments.precision]:
                row["note"] = "WRONG"
                yield row
                continue
            if backend == "sptile graph":
                training.capture()
            else:
                training.step()
            if p.features.is_cuda:
                torch.cuda.synchronize()
                torch.cuda.reset_peak_memory_stats()
            row["ms"] = milliseconds(training, arguments.repeat)
            row["peak_mb"] = memory.megabytes()
        except ImportError as error:
            row["note"] = f"not installed: {error.name}"
        except torch.OutOfMemoryError:
            row["note"] = "out of memory"
        yield row
        del training


def show(row: dict[str, object]) -> None:
    numbers = "".join(
        f"{row[key]:>12.3f}" if isinstance(row.get(key), float) else f"{'':>12}" for key in ("ms", "peak_mb")
    )
    error = f"{row['error']:.1e}" if "error" in row else ""
    print(
        f"{row['graph']!s:22} {row['model']!s:5} {row['width']!s:>4} {row['backend']!s:13}{numbers}"
        f"  {error:8} {row.get('note', '')}",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="+", type=Path)
    parser.add_argument("--models", default="gcn,gat,agnn")
    parser.add_argument("--hidden", default="64,256", help="widths of gcn")
    parser.add_argument("--backends", default="", help="names separated by commas (default: all)")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--precision", choices=("tf32", "fp32"), default="tf32", help="precision of float32 products")
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--csv", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.backends.cuda.matmul.allow_tf32 = arguments.precision == "tf32"
    rows = []
    print(f"{'graph':22} {'model':5} {'':>4} {'backend':13}{'ms':>12}{'peak MB':>12}  error")
    for path in arguments.graphs:
        graph = read_graph(path)
        for model in arguments.models.split(","):
            for width in (int(h) for h in arguments.hidden.split(",")) if model == "gcn" else (64,):
                for row in measure(problem(path, graph, width, arguments.device), model, width, arguments):
                    show(row)
                    rows.append(row)
                    if arguments.csv is not None:
                        with arguments.csv.open("w", newline="") as file:
                            writer = csv.DictWriter(file, COLUMNS)
                            writer.writeheader()
                            writer.writerows(rows)
    return 1 if any(row.get("note") == "WRONG" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
