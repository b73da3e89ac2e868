"""Training of one model with one backend and seed."""

import dataclasses
import statistics
import time

import torch

from memory import peak_bytes
from models import make_model
from op_times import OpTimes
from precision import Precision

TIMED_EPOCHS = 3  # epochs whose operations are timed one by one, after the training


@dataclasses.dataclass
class Run:
    """Results of a training. Accuracies are fractions; seconds_per_epoch are medians of the slowest process, without
    evaluation."""

    backend: str
    seed: int
    precision: str = "fp32"
    order: str = "identity"  # of the nodes
    losses: list = dataclasses.field(default_factory=list)  # training loss of each epoch
    validation: list = dataclasses.field(default_factory=list)  # (epoch, loss, accuracy) at intervals
    test_accuracy: float = 0.0
    seconds_per_epoch: dict = dataclasses.field(
        default_factory=dict
    )  # total and its parts: sparse, dense, rest
    order_seconds: float = 0.0  # time of the reordering
    # maximum bytes on the device of each process, of tensors (with the data set) and formats; empty on CPUs
    peak_bytes: list = dataclasses.field(default_factory=list)
    # conversion and plans: the graph, and the excess of the first epoch over the others
    prepare_seconds: float = 0.0
    train_seconds: float = 0.0  # time of all epochs
    # first epoch from which it is ahead of the first configuration; None: never, or it is the first
    break_even_epochs: float | None = None
    # the same against the first order, for the same backend and precision
    order_break_even_epochs: float | None = None


def train(model_name, backend, layers, data, recipe, seed, progress, precision="fp32", order=("identity", 0.0)):
    """Trains on data's device and returns a Run. Calls `progress(run, epoch)` at intervals. `order` is the name and the
    seconds of the order of the nodes."""
    run = Run(backend, seed, precision, order[0], order_seconds=order[1])
    arithmetic = Precision(precision, data.x.device)
    device = data.x.device
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    clock = Clock(device)
    graph = data.make_graph(layers)
    run.prepare_seconds = clock.lap()
    model = make_model(model_name, layers, data, recipe, seed)
    data.prepare(model)
    optimizer = make_optimizer(model, recipe)
    torch.manual_seed(seed)
    paces = []
    for block in blocks(recipe.epochs):
        clock.lap()
        losses = [epoch(model, graph, data, optimizer, arithmetic) for _ in range(block)]
        paces.append(clock.lap() / block)
        run.losses += torch.stack(losses).tolist()
        run.train_seconds += paces[-1] * block
        run.validation.append((len(run.losses), *evaluate(model, graph, data, "val", arithmetic)))
        progress(run, len(run.losses))
    run.test_accuracy = evaluate(model, graph, data, "test", arithmetic)[1]
    pace = max(own for (own,) in data.of_all(statistics.median(paces[1:] or paces)))
    if device.type == "cuda":
        run.peak_bytes = [int(own) for (own,) in data.of_all(peak_bytes(device, layers))]
    run.prepare_seconds += max(paces[0] - pace, 0)
    run.seconds_per_epoch = {
        "total": pace,
        **{kind: share * pace for kind, share in op_shares(model, graph, data, optimizer, arithmetic).items()},
    }
    return run


class Clock:
    """Measures laps and synchronizes with the device."""

    def __init__(self, device):
        self.device = device
        self.lap()

    def lap(self):
        """Returns the seconds since the last call."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        last, self.last = getattr(self, "last", 0), time.perf_counter()
        return self.last - last


def blocks(epochs):
    """Yields numbers of epochs between two reads of the clock: the first epoch alone, then about twenty blocks."""
    step = max(1, epochs // 20)
    yield 1
    for done in range(1, epochs, step):
        yield min(step, epochs - done)


def make_optimizer(model, recipe):
    """Returns Adam with weight decay of the first layer or of all."""
    first = list(model.first.parameters())
    rest = [p for p in model.parameters() if all(p is not q for q in first)]
    decay = recipe.weight_decay
    groups = [
        {"params": first, "weight_decay": decay},
        {"params": rest, "weight_decay": decay if recipe.decay_all else 0},
    ]
    return torch.optim.Adam([g for g in groups if g["params"]], lr=recipe.learning_rate)


def epoch(model, graph, data, optimizer, arithmetic):
    """Runs one step on the training nodes; returns its loss, on the device."""
    model.train()
    optimizer.zero_grad()
    nodes = data.nodes["train"]
    with arithmetic.products():
        loss = data.mean_loss(model(data.x, graph)[nodes], data.y[nodes], "train")
    arithmetic.backward(loss)
    data.add_up(*(p.grad for p in model.parameters() if p.grad is not None))
    arithmetic.step(optimizer)
    return data.add_up(loss.detach())[0]


@torch.no_grad()
def evaluate(model, graph, data, split, arithmetic):
    """Returns (loss, accuracy) on the nodes of a split."""
    model.eval()
    nodes = data.nodes[split]
    with arithmetic.products():
        scores = model(data.x, graph)[nodes].float()
    labels = data.y[nodes]
    right = (scores.argmax(1) == labels).sum().to(scores.dtype) / data.counts[split]
    loss, accuracy = data.add_up(data.mean_loss(scores, labels, split), right)
    return loss.item(), accuracy.item()


def op_shares(model, graph, data, optimizer, arithmetic):
    """Returns kind -> fraction of an epoch's time, by timing operations one by one."""
    with OpTimes(data.x.device, data.edge_rows(graph)) as times:
        for _ in range(TIMED_EPOCHS):
            epoch(model, graph, data, optimizer, arithmetic)
    return times.shares()
