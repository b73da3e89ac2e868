"""The layer of principal neighbourhood aggregation (Corso et al. 2020)."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from ...errors import UnsupportedError, UsageError
from ..matrix import SparseMatrix, cast
from ..operands import statistic
from ..pieces import reduce_messages
from ..reductions import AGGREGATIONS, mean, unweighted
from .edge_features import check_edge_attr
from .graph import Graph, GraphLayer, check_features, matrix_of, reset_modules
from .linear import Linear

AGGREGATORS = ("sum", "add", "mean", "min", "max", "var", "std")
SCALERS = ("identity", "amplification", "attenuation", "linear", "inverse_linear")
_LEAST_VARIANCE = 1e-5  # PyG's standard deviations below its root are 0
_RANDOM = (nn.RReLU, nn.modules.dropout._DropoutNd)


class DegreeScalers(nn.Module):
    """Average degrees of the training set, and the scalers that compare degrees with them. Parameters and buffers are
    those of PyG's `DegreeScalerAggregation`."""

    avg_deg_lin: Tensor
    avg_deg_log: Tensor

    def __init__(self, scalers: Sequence[str], deg: Tensor, train_norm: bool) -> None:
        super().__init__()
        self.scalers = list(scalers)
        deg = deg.to(torch.float)
        nodes, degree = int(deg.sum()), torch.arange(deg.numel(), device=deg.device)
        if nodes == 0:
            raise UsageError("deg must count the nodes of each degree, got no nodes")
        self.init_avg_deg_lin = float((degree * deg).sum()) / nodes
        self.init_avg_deg_log = float(((degree + 1).log() * deg).sum()) / nodes
        for name in ("avg_deg_lin", "avg_deg_log"):
            if train_norm:
                setattr(self, name, nn.Parameter(torch.empty(1)))
            else:
                self.register_buffer(name, torch.empty(1))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.constant_(self.avg_deg_lin, self.init_avg_deg_lin)
        nn.init.constant_(self.avg_deg_log, self.init_avg_deg_log)

    def forward(self, x: Tensor, degree: Tensor) -> Tensor:
        """Returns x [nodes, towers, n] times each factor, as columns. degree [nodes, 1, 1] of the type of x."""
        least = degree.clamp(min=1)
        factors: dict[str, Callable[[], Tensor]] = {
            "amplification": lambda: (degree + 1).log() / self.avg_deg_log,
            "attenuation": lambda: self.avg_deg_log / (least + 1).log(),
            "linear": lambda: degree / self.avg_deg_lin,
            "inverse_linear": lambda: self.avg_deg_lin / least,
        }
        return torch.cat([x if name == "identity" else x * factors[name]() for name in self.scalers], -1)


class PNAConv(GraphLayer):
    """Principal neighbourhood aggregation (PNA).

    Each node transforms x next to several aggregations of ``pre_nn(x[i], x[j], edge_attr[e])``, each scaled by several
    functions of the degree. Arguments and parameters are those of `torch_geometric.nn.PNAConv`.

    Parameters
    ----------
    in_channels : int
        Width of x.
    out_channels : int
        Width of the result.
    aggregators : list of str
        Aggregations: "sum" or "add", "mean", "min", "max", "var" and "std".
    scalers : list of str
        Scalers: "identity", "amplification", "attenuation", "linear" and "inverse_linear".
    deg : Tensor
        Number of nodes of the training set with each in-degree, shape (largest degree + 1,).
    edge_dim : int, optional
        Width of the edge features.
    towers : int, optional
        Number of towers, each with separate layers.
    pre_layers : int, optional
        Number of linear layers before the aggregation.
    post_layers : int, optional
        Number of linear layers after the aggregation.
    divide_input : bool, optional
        Give each tower a part of x. Otherwise each receives all of x.
    act : str or Module, optional
        Activation between the linear layers, a class of torch.nn by name or a module.
    act_kwargs : dict, optional
        Arguments of the activation if it is named.
    train_norm : bool, optional
        Train the average degrees of the scalers.

    Raises
    ------
    UnsupportedError
        If an aggregator, a scaler or the activation is unknown.
    UsageError
        If towers do not divide the widths, a number of layers is less than 1, or `deg` counts no nodes.

    Notes
    -----
    The first layer of ``pre_nn`` is split into terms for i, j and e. If it is the only one and there are no edge
    features, the aggregations are SpMM, maxima and minima of transformed nodes, and the layer allocates no memory per
    edge. Otherwise both passes compute messages in pieces of edges, keep none, and the matrix keeps up to 20 bytes per
    edge for the backward pass. Compiled code, transforms of `torch.func` and random activations keep messages.

    Variances are ``mean(h**2) - mean(h)**2`` in float32 or wider. The term for i changes no variance and is left out.
    Of equal maxima or minima, the first receives the gradient.

    Examples
    --------
    >>> import torch, sptile.torch as st
    >>> layer = st.nn.PNAConv(4, 2, ["mean", "std"], ["identity", "amplification"], deg=torch.tensor([0, 3]))
    >>> layer(torch.ones(3, 4), torch.tensor([[0, 1, 2], [1, 2, 0]])).shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        aggregators: list[str],
        scalers: list[str],
        deg: Tensor,
        edge_dim: int | None = None,
        towers: int = 1,
        pre_layers: int = 1,
        post_layers: int = 1,
        divide_input: bool = False,
        act: str | nn.Module | None = "relu",
        act_kwargs: dict[str, Any] | None = None,
        train_norm: bool = False,
    ) -> None:
        super().__init__()
        _check_names("aggregators", aggregators, AGGREGATORS)
        _check_names("scalers", scalers, SCALERS)
        if min(in_channels, out_channels, towers, pre_layers, post_layers) < 1:
            raise UsageError("PNAConv: widths and numbers of towers and layers must be at least 1")
        if out_channels % towers != 0 or (divide_input and in_channels % towers != 0):
            raise UsageError(f"PNAConv: {towers} towers must divide out_channels, and with divide_input in_channels")
        self.in_channels, self.out_channels, self.edge_dim = in_channels, out_channels, edge_dim
        self.towers, self.divide_input, self.aggregators = towers, divide_input, list(aggregators)
        self.F_in = in_channels // towers if divide_input else in_channels
        self.F_out = out_channels // towers
        self.aggr_module = DegreeScalers(scalers, deg, train_norm)
        if edge_dim is not None:
            self.edge_encoder = Linear(edge_dim, self.F_in)

        def layers(inputs: int, outputs: int, number: int) -> nn.Sequential:
            modules: list[nn.Module] = [Linear(inputs, outputs)]
            for _ in range(number - 1):
                modules += [_activation(act, act_kwargs or {}), Linear(outputs, outputs)]
            return nn.Sequential(*modules)

        of_message = (2 if edge_dim is None else 3) * self.F_in
        of_node = (len(aggregators) * len(scalers) + 1) * self.F_in
        self.pre_nns = nn.ModuleList(layers(of_message, self.F_in, pre_layers) for _ in range(towers))
        self.post_nns = nn.ModuleList(layers(of_node, self.F_out, post_layers) for _ in range(towers))
        self.lin = Linear(out_channels, out_channels)

    def reset_parameters(self) -> None:
        """Initializes the parameters.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> layer = st.nn.PNAConv(4, 2, ["max"], ["identity"], deg=torch.tensor([0, 3]))
        >>> layer.reset_parameters()
        """
        reset_modules(self)

    def forward(self, x: Tensor, edge_index: Graph, edge_attr: Tensor | None = None) -> Tensor:
        """Applies the layer.

        Parameters
        ----------
        x : Tensor
            Features of shape (nodes, in_channels).
        edge_index : Tensor or SparseMatrix
            Edges of shape (2, edges), or the adjacency matrix.
        edge_attr : Tensor, optional
            Edge features of shape (edges, edge_dim), or (edges,) if ``edge_dim == 1``.

        Returns
        -------
        Tensor
            Result of shape (nodes, out_channels).

        Raises
        ------
        UsageError
            If shapes, types or devices do not match.

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> layer = st.nn.PNAConv(4, 2, ["max"], ["identity"], deg=torch.tensor([0, 3]))
        >>> layer(torch.ones(3, 4), torch.tensor([[0, 1, 2], [1, 2, 0]])).shape
        torch.Size([3, 2])
        """
        x = check_features(x, "PNAConv", batches=False)
        if x.shape[1] != self.in_channels:
            raise UsageError(f"PNAConv: x must have {self.in_channels} columns, got {x.shape[1]}")
        a = unweighted(matrix_of(edge_index, x.shape[0], x.shape[0]))
        if (edge_attr is None) != (self.edge_dim is None):
            raise UsageError("edge_attr requires a layer with edge_dim, and such a layer requires edge_attr")
        if edge_attr is not None:
            edge_attr = check_edge_attr(edge_attr, self.edge_encoder, a._entries.given)
        if self.divide_input:
            of_towers = x.reshape(-1, self.towers, self.F_in)
        else:
            of_towers = x.unsqueeze(1).expand(-1, self.towers, -1)
        degree = a._derive("degrees", a.degrees).to(statistic(x.dtype))
        aggregated = self._aggregated(a, x, of_towers, edge_attr, degree)
        scaled = self.aggr_module(aggregated, degree.unsqueeze(-1)).to(x.dtype)
        out = torch.cat([of_towers, scaled], -1)
        joined = torch.cat([post(out[:, tower]) for tower, post in enumerate(self.post_nns)], 1)
        result: Tensor = self.lin(joined)
        return result

    def _aggregated(
        self, a: SparseMatrix, x: Tensor, of_towers: Tensor, edge_attr: Tensor | None, degree: Tensor
    ) -> Tensor:
        """Returns the aggregations of the messages [nodes, towers, aggregators * F_in], in float32 or wider."""
        weights = torch.stack([pre[0].weight for pre in self.pre_nns])  # type: ignore[index]
        bias = torch.cat([pre[0].bias for pre in self.pre_nns])  # type: ignore[index]
        by_node, rest = weights.split([2 * self.F_in, weights.shape[2] - 2 * self.F_in], 2)
        targets, sources = (self._transformed(x, of_towers, one) for one in by_node.chunk(2, 2))
        edge_weights = None
        if edge_attr is not None:
            # The encoder of the features and the first layer are one product.
            edge_weights = (rest @ self.edge_encoder.weight).flatten(0, 1)
            bias = bias + (rest @ self.edge_encoder.bias).flatten()
        targets = targets + bias
        if len(self.pre_nns[0]) > 1:  # type: ignore[arg-type]
            found = self._of_deep_messages(a, targets, sources, edge_attr, edge_weights, degree)
        elif edge_weights is None:
            found = _shifted(self._of_nodes(a, sources), targets, degree)
        else:
            terms = None, sources, edge_attr, (edge_weights,)
            found = _shifted(self._of_messages(a, _sum_of_terms, terms, degree), targets, degree)
        kept = [found["sum" if name == "add" else name].view(-1, self.towers, self.F_in) for name in self.aggregators]
        return torch.cat(kept, -1)

    def _transformed(self, x: Tensor, of_towers: Tensor, weights: Tensor) -> Tensor:
        """Returns the products of x with weights [towers, F_in, F_in], [nodes, towers * F_in]."""
        if self.divide_input:
            return torch.einsum("itn,tmn->itm", of_towers, weights).flatten(1)
        return functional.linear(x, weights.flatten(0, 1))

    def _names(self) -> list[str]:
        return list(dict.fromkeys("sum" if name == "add" else name for name in self.aggregators))

    def _of_nodes(self, a: SparseMatrix, sources: Tensor) -> dict[str, Tensor]:
        """Returns the aggregations of rows of `sources`."""
        if torch.is_autocast_enabled(a.device.type):
            sources = cast(a, sources)  # type: ignore[assignment]
        names = self._names()
        with torch.autocast(a.device.type, enabled=False):
            wide = sources.to(statistic(sources.dtype))
            found = {name: AGGREGATIONS[name](a, wide) for name in names if name in AGGREGATIONS}
            if "var" in names or "std" in names:
                middle = found["mean"] if "mean" in found else mean(a, wide)
                found |= _spread(names, middle, mean(a, wide * wide))
        return found

    def _of_messages(
        self, a: SparseMatrix, message: Any, tensors: tuple[Any, ...], degree: Tensor, in_pieces: bool = True
    ) -> dict[str, Tensor]:
        """Returns the aggregations of messages; see `reduce_messages`."""
        names = self._names()
        spread = "var" in names or "std" in names
        needed = {
            "sum": spread or "mean" in names or "sum" in names,
            "squares": spread,
            "max": "max" in names,
            "min": "min" in names,
        }
        reductions = [name for name, need in needed.items() if need]
        targets, sources, edges, parameters = tensors
        found = reduce_messages(
            a, message, self.towers * self.F_in, reductions, targets, sources, edges, parameters, in_pieces
        )
        number = degree.clamp(min=1)
        middle = found["sum"] / number if "sum" in found else None
        if spread and middle is not None:
            found |= _spread(names, middle, found["squares"] / number)
        if middle is not None:
            found["mean"] = middle
        return {name: found[name] for name in names}

    def _of_deep_messages(
        self,
        a: SparseMatrix,
        targets: Tensor,
        sources: Tensor,
        edge_attr: Tensor | None,
        edge_weights: Tensor | None,
        degree: Tensor,
    ) -> dict[str, Tensor]:
        """Returns the aggregations of messages of several layers, of which the first is split."""
        tails = [list(pre)[1:] for pre in self.pre_nns]  # type: ignore[call-overload]
        own = [x for tail in tails for module in tail for x in module.parameters()]

        def message(i: Tensor, j: Tensor, edges: Tensor | None, parameters: Sequence[Tensor]) -> Tensor:
            rest = iter(parameters)
            h = i + j
            if edges is not None:
                h = h + functional.linear(edges, next(rest))
            towers = zip(tails, h.chunk(self.towers, 1), strict=True)
            return torch.cat([_applied(tail, x, rest) for tail, x in towers], 1)

        parameters = [*([] if edge_weights is None else [edge_weights]), *own]
        in_pieces = not any(isinstance(module, _RANDOM) for tail in tails for top in tail for module in top.modules())
        return self._of_messages(a, message, (targets, sources, edge_attr, parameters), degree, in_pieces)

    @staticmethod
    def get_degree_histogram(loader: Iterable[Any]) -> Tensor:
        """Returns the argument `deg` of a training set.

        Parameters
        ----------
        loader : iterable
            Graphs or batches with the attributes `edge_index` and `num_nodes`.

        Returns
        -------
        Tensor
            Number of nodes with each in-degree, int64, shape (largest degree + 1,).

        Examples
        --------
        >>> import torch, sptile.torch as st
        >>> from types import SimpleNamespace
        >>> graph = SimpleNamespace(edge_index=torch.tensor([[0, 1, 2], [1, 2, 2]]), num_nodes=3)
        >>> st.nn.PNAConv.get_degree_histogram([graph])
        tensor([1, 1, 1])
        """
        found = torch.zeros(1, dtype=torch.int64, device="cpu")
        for data in loader:
            degree = torch.bincount(data.edge_index[1], minlength=data.num_nodes)
            counts = torch.bincount(degree).cpu()
            size = max(found.numel(), counts.numel())
            found, counts = (functional.pad(x, (0, size - x.numel())) for x in (found, counts))
            found = found + counts
        return found

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, towers={self.towers}, edge_dim={self.edge_dim}"


def _applied(modules: Sequence[nn.Module], x: Tensor, parameters: Iterator[Tensor]) -> Tensor:
    """Returns the result of modules with other parameters, in their order."""
    for module in modules:
        own = {name: next(parameters) for name, _parameter in module.named_parameters()}
        if isinstance(module, Linear):
            x = functional.linear(x, own["weight"], own["bias"])
        else:
            x = functional_call(module, own, (x,)) if own else module(x)
    return x


def _shifted(found: dict[str, Tensor], shift: Tensor, degree: Tensor) -> dict[str, Tensor]:
    """Returns the aggregations of messages to which a row of `shift` is added in each row: variances stay."""
    shift = shift.to(statistic(shift.dtype))
    times = {"sum": degree, "mean": degree > 0, "max": degree > 0, "min": degree > 0}
    return {name: x + shift * times[name] if name in times else x for name, x in found.items()}


def _sum_of_terms(_targets: None, x: Tensor, edges: Tensor, parameters: Sequence[Tensor]) -> Tensor:
    """Returns x + W edges."""
    return x + functional.linear(edges, parameters[0])


def _spread(names: Sequence[str], middle: Tensor, squares: Tensor) -> dict[str, Tensor]:
    """Returns variances and standard deviations from means and means of squares, as PyG defines them."""
    found = {"var": squares - middle * middle}
    if "std" in names:
        root = found["var"].clamp(min=_LEAST_VARIANCE).sqrt()
        found["std"] = root.masked_fill(root <= math.sqrt(_LEAST_VARIANCE), 0.0)
    return {name: found[name] for name in found if name in names}


def _check_names(what: str, names: object, known: Sequence[str]) -> None:
    if not isinstance(names, list | tuple) or not names:
        raise UsageError(f"PNAConv: {what} must be a list of names, got {names!r}")
    for name in names:
        if name not in known:
            raise UnsupportedError(f"PNAConv: {what} must be {', '.join(map(repr, known))}, got {name!r}")


def _activation(act: object, arguments: dict[str, Any]) -> nn.Module:
    """Returns a module, or the class of torch.nn that has a name, in any case and with or without underscores."""
    if isinstance(act, nn.Module):
        return act
    if isinstance(act, str):
        wanted = act.lower().replace("_", "").replace("-", "").replace(" ", "")
        kinds: dict[str, Any] = vars(nn.modules.activation)
        for name, kind in kinds.items():
            if name.lower() == wanted and inspect.isclass(kind) and kind.__module__ == nn.modules.activation.__name__:
                module = kind(**arguments)
                if isinstance(module, nn.Module):
                    return module
    raise UnsupportedError(f"PNAConv: act must be a module or the name of an activation in torch.nn, got {act!r}")
