"""The layers of PyG, each with arguments: what the tests of `accelerate` go through. Left out: PANConv needs
torch-sparse; DynamicEdgeConv, GravNetConv and XConv need torch-cluster, SplineConv pyg-lib; WLConv takes colors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch_geometric.nn as pyg
from torch import Tensor, nn

NODES, EDGES, WIDTH = 40, 240, 8


class Layer(NamedTuple):
    """A layer, and what it is called with."""

    make: Callable[[], nn.Module]
    arguments: Callable[[], tuple[Any, ...]]


def _edges(count: int = EDGES) -> Tensor:
    generator = torch.Generator().manual_seed(7)
    row = torch.randint(0, NODES, (count,), generator=generator)
    return torch.stack([row, (row + torch.randint(1, NODES, (count,), generator=generator)) % NODES])


EDGE_INDEX = _edges()
FEW_EDGES = _edges(60)
EDGE_TYPE = torch.arange(EDGES) % 3
EDGE_ATTR = torch.rand(EDGES, 3, generator=torch.Generator().manual_seed(1))
WEIGHT = torch.rand(EDGES, generator=torch.Generator().manual_seed(2)) + 0.5
DEGREE = torch.bincount(torch.bincount(EDGE_INDEX[1], minlength=NODES))
METADATA = (["a"], [("a", "to", "a")])


def features(width: int = WIDTH, seed: int = 3) -> Tensor:
    """Returns random features [nodes, width]."""
    return torch.randn(NODES, width, generator=torch.Generator().manual_seed(seed))


def _graph(*more: Any) -> Callable[[], tuple[Any, ...]]:
    return lambda: (features(), EDGE_INDEX, *more)


def _mlp(inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, outputs), nn.Tanh())


def _positions() -> Tensor:
    return features(3, seed=4)


LAYERS: dict[str, Layer] = {
    "AGNNConv": Layer(lambda: pyg.AGNNConv(), _graph()),
    "AntiSymmetricConv": Layer(lambda: pyg.AntiSymmetricConv(WIDTH), _graph()),
    "APPNP": Layer(lambda: pyg.APPNP(3, 0.1), _graph()),
    "ARMAConv": Layer(lambda: pyg.ARMAConv(WIDTH, 6, num_stacks=2, num_layers=2), _graph(WEIGHT)),
    "CGConv": Layer(lambda: pyg.CGConv(WIDTH, 3), _graph(EDGE_ATTR)),
    "ChebConv": Layer(lambda: pyg.ChebConv(WIDTH, 6, 3), _graph()),
    "ClusterGCNConv": Layer(lambda: pyg.ClusterGCNConv(WIDTH, 6, 0.3), _graph()),
    "DirGNNConv": Layer(lambda: pyg.DirGNNConv(pyg.SAGEConv(WIDTH, 6)), _graph()),
    "DNAConv": Layer(lambda: pyg.DNAConv(WIDTH, 2), lambda: (features(3 * WIDTH).view(NODES, 3, WIDTH), EDGE_INDEX)),
    "EdgeConv": Layer(lambda: pyg.EdgeConv(_mlp(2 * WIDTH, 6)), _graph()),
    "EGConv": Layer(lambda: pyg.EGConv(WIDTH, 8, ["sum", "mean", "symnorm", "std"], 4, 4), _graph()),
    "FAConv": Layer(lambda: pyg.FAConv(WIDTH), lambda: (features(), features(seed=5), EDGE_INDEX)),
    "FastRGCNConv": Layer(lambda: pyg.FastRGCNConv(WIDTH, 6, 3), _graph(EDGE_TYPE)),
    "FeaStConv": Layer(lambda: pyg.FeaStConv(WIDTH, 6, 2), _graph()),
    "FiLMConv": Layer(lambda: pyg.FiLMConv(WIDTH, 6, 3), _graph(EDGE_TYPE)),
    "GATConv": Layer(lambda: pyg.GATConv(WIDTH, 6, heads=2, edge_dim=3), _graph(EDGE_ATTR)),
    "GatedGraphConv": Layer(lambda: pyg.GatedGraphConv(WIDTH, 2), _graph(WEIGHT)),
    "GATv2Conv": Layer(lambda: pyg.GATv2Conv(WIDTH, 6, heads=2, edge_dim=3), _graph(EDGE_ATTR)),
    "GCN2Conv": Layer(lambda: pyg.GCN2Conv(WIDTH, 0.2), lambda: (features(), features(seed=5), EDGE_INDEX, WEIGHT)),
    "GCNConv": Layer(lambda: pyg.GCNConv(WIDTH, 6), _graph(WEIGHT)),
    "GENConv": Layer(lambda: pyg.GENConv(WIDTH, 6, edge_dim=3, norm="layer"), _graph(EDGE_ATTR)),
    "GeneralConv": Layer(lambda: pyg.GeneralConv(WIDTH, 6, 3, heads=2, attention=True), _graph(EDGE_ATTR)),
    "GINConv": Layer(lambda: pyg.GINConv(_mlp(WIDTH, 6), train_eps=True), _graph()),
    "GINEConv": Layer(lambda: pyg.GINEConv(_mlp(WIDTH, 6), edge_dim=3), _graph(EDGE_ATTR)),
    "GMMConv": Layer(lambda: pyg.GMMConv(WIDTH, 6, 3, 2), _graph(EDGE_ATTR)),
    "GPSConv": Layer(lambda: pyg.GPSConv(WIDTH, pyg.SAGEConv(WIDTH, WIDTH), 2), _graph()),
    "GraphConv": Layer(lambda: pyg.GraphConv(WIDTH, 6), _graph(WEIGHT)),
    "HANConv": Layer(
        lambda: pyg.HANConv(WIDTH, 6, METADATA, heads=2), lambda: ({"a": features()}, {METADATA[1][0]: EDGE_INDEX})
    ),
    "HEATConv": Layer(lambda: pyg.HEATConv(WIDTH, 6, 2, 3, 4, 3, 4, 2), _graph(torch.arange(NODES) % 2, EDGE_TYPE, EDGE_ATTR)),
    "HeteroConv": Layer(
        lambda: pyg.HeteroConv({METADATA[1][0]: pyg.SAGEConv(WIDTH, 6)}),
        lambda: ({"a": features()}, {METADATA[1][0]: EDGE_INDEX}),
    ),
    "HGTConv": Layer(
        lambda: pyg.HGTConv(WIDTH, 6, METADATA, heads=2), lambda: ({"a": features()}, {METADATA[1][0]: EDGE_INDEX})
    ),
    "HypergraphConv": Layer(lambda: pyg.HypergraphConv(WIDTH, 6), _graph()),
    "LEConv": Layer(lambda: pyg.LEConv(WIDTH, 6), _graph(WEIGHT)),
    "LGConv": Layer(lambda: pyg.LGConv(), _graph(WEIGHT)),
    "MeshCNNConv": Layer(
        lambda: pyg.MeshCNNConv(WIDTH, 6), lambda: (features(), torch.stack([torch.arange(4 * NODES) * 7 % NODES, torch.arange(NODES).repeat_interleave(4)]))
    ),
    "MFConv": Layer(lambda: pyg.MFConv(WIDTH, 6), _graph()),
    "MixHopConv": Layer(lambda: pyg.MixHopConv(WIDTH, 6), _graph(WEIGHT)),
    "NNConv": Layer(lambda: pyg.NNConv(WIDTH, 6, nn.Linear(3, 6 * WIDTH)), _graph(EDGE_ATTR)),
    "PDNConv": Layer(lambda: pyg.PDNConv(WIDTH, 6, 3, 4), _graph(EDGE_ATTR)),
    "PNAConv": Layer(
        lambda: pyg.PNAConv(WIDTH, 6, ["mean", "max", "std"], ["identity", "amplification"], DEGREE, 3), _graph(EDGE_ATTR)
    ),
    "PointGNNConv": Layer(
        lambda: pyg.PointGNNConv(_mlp(WIDTH, 3), _mlp(WIDTH + 3, 6), _mlp(6, WIDTH)), lambda: (features(), _positions(), EDGE_INDEX)
    ),
    "PointNetConv": Layer(lambda: pyg.PointNetConv(_mlp(WIDTH + 3, 6)), lambda: (features(), _positions(), EDGE_INDEX)),
    "PointTransformerConv": Layer(lambda: pyg.PointTransformerConv(WIDTH, 6), lambda: (features(), _positions(), EDGE_INDEX)),
    "PPFConv": Layer(
        lambda: pyg.PPFConv(_mlp(WIDTH + 4, 6)), lambda: (features(), _positions(), features(3, seed=6), EDGE_INDEX)
    ),
    "ResGatedGraphConv": Layer(lambda: pyg.ResGatedGraphConv(WIDTH, 6, edge_dim=3), _graph(EDGE_ATTR)),
    "RGATConv": Layer(lambda: pyg.RGATConv(WIDTH, 6, 3, heads=2), _graph(EDGE_TYPE)),
    "RGCNConv": Layer(lambda: pyg.RGCNConv(WIDTH, 6, 3), _graph(EDGE_TYPE)),
    "SAGEConv": Layer(lambda: pyg.SAGEConv(WIDTH, 6), _graph()),
    "SGConv": Layer(lambda: pyg.SGConv(WIDTH, 6, 2), _graph(WEIGHT)),
    "SignedConv": Layer(lambda: pyg.SignedConv(WIDTH, 6, True), _graph(FEW_EDGES)),
    "SimpleConv": Layer(lambda: pyg.SimpleConv("mean"), _graph(WEIGHT)),
    "SSGConv": Layer(lambda: pyg.SSGConv(WIDTH, 6, 0.2, 2), _graph(WEIGHT)),
    "SuperGATConv": Layer(lambda: pyg.SuperGATConv(WIDTH, 6, 2).eval(), _graph()),
    "TAGConv": Layer(lambda: pyg.TAGConv(WIDTH, 6, 2), _graph(WEIGHT)),
    "TransformerConv": Layer(lambda: pyg.TransformerConv(WIDTH, 6, heads=2, beta=True), _graph()),
    "WLConvContinuous": Layer(lambda: pyg.WLConvContinuous(), _graph(WEIGHT)),
}


def results(layer: nn.Module, arguments: tuple[Any, ...]) -> list[Tensor]:
    """Returns the output of a layer, and the gradients of a random sum of it to all features and parameters."""
    moved: list[Tensor] = []

    def learning(x: Any) -> Any:
        if isinstance(x, dict):
            return {key: learning(value) for key, value in x.items()}
        if isinstance(x, Tensor) and x.is_floating_point():
            moved.append(x.clone().requires_grad_())
            return moved[-1]
        return x

    layer.zero_grad()
    out = layer(*(learning(x) for x in arguments))
    while not isinstance(out, Tensor):
        out = next(iter(out.values())) if isinstance(out, dict) else out[0]
    torch.manual_seed(0)
    (out * torch.randn_like(out)).sum().backward()
    wanted = [*moved, *layer.parameters()]
    return [out.detach(), *(torch.zeros(()) if x.grad is None else x.grad.clone() for x in wanted)]
