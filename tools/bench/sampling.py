#!/usr/bin/env python3
"""Times an epoch of sampled training on a generated power-law graph. CSV on stdout, medians over epochs.

    tools/bench/sampling.py [--nodes 1000000] [--edges 10000000] [--seeds 20000] [--batch 1024] [--fan-outs 15,10]
                            [--width 64] [--workers 1] [--threads T] [--epochs 3] [--device cpu]

`sampler` is sptile's `NeighborLoader` or PyG's, which needs pyg-lib or torch-sparse and is left out without them; PyG's
workers are processes. `layers` is none (batches and features only), or SAGEConv of sptile or of PyG, one per hop. With
sptile's sampler each has the edges of its hop, with PyG's all edges, as in PyG's examples. Samplers and layers take
turns. Requires torch and torch_geometric.
"""
from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

import sptile.torch as st


def power_law(nodes: int, edges: int) -> Tensor:
    """Edges whose targets and sources have degrees of a power law with exponent 2.5."""
    draw = torch.Generator().manual_seed(1)
    ends = [(torch.rand(edges, generator=draw, dtype=torch.float64) ** 3 * nodes).long() for _ in range(2)]
    names = torch.randperm(nodes, generator=draw)
    return torch.stack([names[ends[0]], names[ends[1].flip(0)]])


def sptile_batches(given: argparse.Namespace, edges: Tensor, x: Tensor, y: Tensor) -> Iterable[Any]:
    graph = st.SparseMatrix.from_edge_index(edges, num_nodes=given.nodes).entries()
    return st.NeighborLoader(graph, given.fan_outs, torch.arange(given.seeds), batch_size=given.batch, shuffle=True,
                             x=x, y=y, device=given.device, num_workers=given.workers)


def pyg_batches(given: argparse.Namespace, edges: Tensor, x: Tensor, y: Tensor) -> Iterable[Any] | None:
    try:
        from torch_geometric import typing
        from torch_geometric.data import Data
        from torch_geometric.loader import NeighborLoader
    except ImportError:
        return None
    if not (typing.WITH_PYG_LIB or typing.WITH_TORCH_SPARSE):
        print("PyG's NeighborLoader requires pyg-lib or torch-sparse: left out", file=sys.stderr)
        return None
    data = Data(x=x, y=y, edge_index=edges, num_nodes=given.nodes)
    return NeighborLoader(data, given.fan_outs, torch.arange(given.seeds), batch_size=given.batch, shuffle=True,
                          num_workers=given.workers)


def hops_of(batch: Any, layers: str, hops: int) -> list[tuple[Any, int]]:
    """Matrix or edge_index of each layer, and its number of target nodes: with PyG's sampler all nodes of the batch."""
    if isinstance(batch, st.Batch):
        if layers == "sptile":
            return [(adj, adj.shape[0]) for adj in batch.adjs]
        return [(torch.stack(adj.places()[::-1]), adj.shape[0]) for adj in batch.adjs]
    graph = batch.edge_index if layers == "pyg" else st.from_batch(batch).adj_t
    return [(graph, batch.num_nodes)] * hops


def epoch_of(batches: Iterable[Any], layers: str, given: argparse.Namespace) -> Callable[[], int]:
    """Returns a function that runs an epoch and returns the number of sampled edges."""
    model: Any = None
    if layers != "none":
        if layers == "sptile":
            from sptile.torch.nn import SAGEConv
        else:
            from torch_geometric.nn import SAGEConv
        widths = [given.width] * len(given.fan_outs) + [16]
        model = torch.nn.ModuleList(map(SAGEConv, widths[:-1], widths[1:])).to(given.device)
        optimizer = torch.optim.Adam(model.parameters())

    def epoch() -> int:
        sampled = 0
        for batch in batches:
            sampled += batch.e_id.numel()
            if model is None:
                continue
            h = batch.x.to(given.device)
            for number, (layer, (graph, rows)) in enumerate(zip(model, hops_of(batch, layers, len(given.fan_outs)), strict=True)):
                h = layer((h, h[:rows]), graph if isinstance(graph, st.SparseMatrix) else graph.to(given.device))
                h = h.relu() if number + 1 < len(model) else h
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(h[:batch.batch_size], batch.y[:batch.batch_size].to(given.device)).backward()
            optimizer.step()
        if given.device != "cpu":
            torch.cuda.synchronize()
        return sampled

    return epoch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("nodes", 1_000_000), ("edges", 10_000_000), ("seeds", 20_000), ("batch", 1024), ("width", 64),
                          ("workers", 1), ("threads", torch.get_num_threads()), ("epochs", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--fan-outs", type=lambda text: [int(part) for part in text.split(",")], default=[15, 10])
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    edges = power_law(given.nodes, given.edges)
    x, y = torch.randn(given.nodes, given.width), torch.randint(16, (given.nodes,))
    loaders = {"sptile": sptile_batches(given, edges, x, y), "pyg": pyg_batches(given, edges, x, y)}
    runs = {(sampler, layers): epoch_of(batches, layers, given)
            for sampler, batches in loaders.items() if batches is not None for layers in ("none", "sptile", "pyg")}
    seconds: dict[tuple[str, str], list[float]] = {key: [] for key in runs}
    counts = {}
    for _ in range(given.epochs):
        for key, run in runs.items():
            begin = time.perf_counter()
            counts[key] = run()
            seconds[key].append(time.perf_counter() - begin)
    print("sampler,layers,nodes,edges,fan_outs,batch,seeds,width,workers,threads,device,sampled_edges,epoch_s,fastest_s")
    for (sampler, layers), times in seconds.items():
        print(sampler, layers, given.nodes, given.edges, "x".join(map(str, given.fan_outs)), given.batch, given.seeds,
              given.width, given.workers, given.threads, given.device, counts[sampler, layers],
              f"{statistics.median(times):.3f}", f"{min(times):.3f}", sep=",")


if __name__ == "__main__":
    main()
