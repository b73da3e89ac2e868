"""Default training settings of each model, from the papers."""

import dataclasses

PRECISIONS = ("fp32", "tf32", "bf16", "fp16")


@dataclasses.dataclass(frozen=True)
class Recipe:
    """Settings of one model."""

    paper: str
    hidden: int  # width of the hidden layers; of each head if there are several
    heads: int  # in the hidden layers; the last layer has one
    dropout: float  # dropout of the inputs of all layers, and of attention weights in GAT
    learning_rate: float
    weight_decay: float
    decay_all: bool  # weight decay of all parameters instead of the first layer's
    epochs: int
    layers: int = 2  # graph layers


RECIPES = {
    "gcn": Recipe("Kipf and Welling, ICLR 2017", 16, 1, 0.5, 0.01, 5e-4, False, 200),
    "gin": Recipe("Xu et al., ICLR 2019", 64, 1, 0.5, 0.01, 5e-4, True, 200),
    "agnn": Recipe("Thekumparampil et al., 2018", 16, 1, 0.5, 0.01, 5e-4, True, 200),
    "gat": Recipe("Velickovic et al., ICLR 2018", 8, 8, 0.6, 0.005, 5e-4, True, 200),
}
