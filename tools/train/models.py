"""Models from the layers of any backend, with the layer names and signatures of PyG. A graph is that of the backend.
"""

import torch
from torch import nn
from torch.nn import functional


class Model(nn.Module):
    """Base class: `model(features, graph)` returns scores [N, classes]."""

    def __init__(self, dropout):
        super().__init__()
        self.dropout = dropout
        self.drop_rows = functional.dropout  # replaced if a process has only some of the rows

    def features(self, x):
        """Returns the [N, F] Features, with dropout while training."""
        return x.drop(self.dropout) if self.training and self.dropout > 0 else x.dense

    def drop(self, x):
        """Applies dropout to x while training."""
        return self.drop_rows(x, self.dropout, self.training) if self.dropout > 0 else x


def repeat(count, make):
    """Returns the layers between the first and the last of `count`, each created by `make()`."""
    return nn.ModuleList([make() for _ in range(count - 2)])


class GCN(Model):
    """Graph convolutions."""

    def __init__(self, layers, features, classes, recipe):
        super().__init__(recipe.dropout)
        hidden = recipe.hidden
        self.first = layers.GCNConv(features, hidden)
        self.middle = repeat(recipe.layers, lambda: layers.GCNConv(hidden, hidden))
        self.second = layers.GCNConv(hidden, classes)

    def forward(self, x, graph):
        x = self.first(self.features(x), graph).relu()
        for layer in self.middle:
            x = layer(self.drop(x), graph).relu()
        return self.second(self.drop(x), graph)


class GIN(Model):
    """Sums over neighbours, each followed by a perceptron."""

    def __init__(self, layers, features, classes, recipe):
        super().__init__(recipe.dropout)
        hidden = recipe.hidden
        self.first = layers.GINConv(
            nn.Sequential(nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, hidden))
        )
        self.middle = repeat(
            recipe.layers,
            lambda: layers.GINConv(
                nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, hidden))
            ),
        )
        self.second = layers.GINConv(
            nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, classes))
        )

    def forward(self, x, graph):
        x = self.first(self.features(x), graph).relu()
        for layer in self.middle:
            x = layer(self.drop(x), graph).relu()
        return self.second(self.drop(x), graph)


class AGNN(Model):
    """Layers of cosine attention between two linear layers."""

    def __init__(self, layers, features, classes, recipe):
        super().__init__(recipe.dropout)
        self.first = nn.Linear(features, recipe.hidden)
        self.propagate = nn.ModuleList(
            [layers.AGNNConv(requires_grad=False)] + [layers.AGNNConv() for _ in range(recipe.layers - 1)]
        )
        self.second = nn.Linear(recipe.hidden, classes)

    def forward(self, x, graph):
        x = self.first(self.features(x)).relu()
        for layer in self.propagate:
            x = layer(x, graph)
        return self.second(self.drop(x))


class GAT(Model):
    """Layers of additive attention, all but the last with several heads."""

    def __init__(self, layers, features, classes, recipe):
        super().__init__(recipe.dropout)
        hidden, heads = recipe.hidden, recipe.heads
        self.first = layers.GATConv(features, hidden, heads=heads, dropout=recipe.dropout)
        self.middle = repeat(
            recipe.layers,
            lambda: layers.GATConv(hidden * heads, hidden, heads=heads, dropout=recipe.dropout),
        )
        self.second = layers.GATConv(hidden * heads, classes, heads=1, concat=False, dropout=recipe.dropout)

    def forward(self, x, graph):
        # In place: the backward pass needs the result alone.
        x = functional.elu(self.first(self.features(x), graph), inplace=True)
        for layer in self.middle:
            x = functional.elu(layer(self.drop(x), graph), inplace=True)
        return self.second(self.drop(x), graph)


MODELS = {"gcn": GCN, "gin": GIN, "agnn": AGNN, "gat": GAT}


def make_model(name, layers, data, recipe, seed):
    """Returns a model with parameters initialized by `seed`, equal for every backend: they are drawn on the CPU with
    plain layers and loaded by name."""
    import torch_layers

    torch.manual_seed(seed)
    size = (data.x.shape[1], data.classes, recipe)
    plain = MODELS[name](torch_layers, *size)
    if layers is torch_layers:
        return plain.to(data.x.device)
    model = MODELS[name](layers, *size)
    model.load_state_dict(plain.state_dict())
    return model.to(data.x.device)
