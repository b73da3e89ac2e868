"""Tables that compare the figures of five papers with sptile."""

from rows import distinct, number, table

CHARTS = {}
HEAD = ["experiment", "published", "the paper's way", "sptile's best", "command", "why they differ"]


def _spread(row):
    """Returns a geometric mean and the maximum of speedups."""
    mean, most = number(row, "over_baseline"), number(row, "max_over_baseline")
    return f"{mean:.2f} ({most:.2f}), {row['matrices']}"


def _measured(results, row, variant):
    """Returns the speedup of a variant in a suite; empty without a variant."""
    if not row[variant]:
        return ""
    rows = results.rows("papers-suites", suite=row["suite"], experiment=row["name"], variant=row[variant])
    same_n = [one for one in rows if one["n"] == row["n"]]  # empty n: all values of N, or the only one
    return _spread((same_n or rows)[0])


def _published(row):
    return f"{row['published']} ({row['hardware']})" if row["hardware"] else row["published"]


def _lines(results, paper):
    for row in results.rows("papers", paper=paper):
        way = row["way_text"] or _measured(results, row, "way")
        best = row["best_text"] or _measured(results, row, "best")
        command = row["command"] if row["command"].startswith("[") else f"`{row['command']}`"
        yield [f"{row['experiment']}: {row['measure']}", _published(row), way, best, command, row["why"]]


def _paper(results, paper):
    lines = [HEAD, ["---"] * len(HEAD), *_lines(results, paper)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def papers_rsh(results):
    return _paper(results, "RSH-SpMM")


def papers_acc(results):
    return _paper(results, "Acc-SpMM")


def papers_voltrix(results):
    return _paper(results, "Voltrix-SpMM")


def papers_libra(results):
    return _paper(results, "Libra")


def papers_hygnn(results):
    return _paper(results, "HyGNN")


def papers_not_repeated(results):
    rows = results.rows("papers-not-repeated")
    return table(["paper", "experiment", "needs"], [[row["paper"], row["experiment"], row["needs"]] for row in rows])


def paper_training(results):
    """Returns accuracies by precision and the speedup of an epoch over PyTorch."""
    rows = results.rows("paper-training")
    precisions = distinct([row for row in rows if row["backend"] == "sptile"], "precision")
    lines = []
    for case in dict.fromkeys((row["data"], row["model"], row["layers"], row["hidden"]) for row in rows):
        own = results.rows("paper-training", **dict(zip(("data", "model", "layers", "hidden"), case, strict=True)))
        by = {(row["backend"], row["precision"]): row for row in own}
        torch, ours = by["torch", "fp32"], [by["sptile", name] for name in precisions]
        cells = [f"{100 * number(row, 'test_accuracy'):.1f} ± {100 * number(row, 'deviation'):.1f}" for row in ours]
        speedup = number(torch, "ms_per_epoch") / number(ours[0], "ms_per_epoch")
        lines.append([*case, f"{100 * number(torch, 'test_accuracy'):.1f}", *cells, f"{speedup:.2f}"])
    head = ["data", "model", "layers", "hidden", "PyTorch, fp32", *precisions, "epoch over PyTorch, fp32"]
    return table(head, lines)
