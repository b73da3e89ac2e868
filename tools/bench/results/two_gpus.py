"""Tables of products, training steps, SDDMM and attention on two GPUs."""

from rows import distinct, geomean, number, table

CHARTS = {}
PRODUCTS = ["matrix", "halo rows", "one GPU", "two", "efficiency", "captured", "host", "captured", "exchange", "hidden"]
OTHERS = ["matrix", "two GPUs", "by NCCL", "all_to_all, cuSPARSE", "ratio", "all_gather, cuSPARSE", "ratio"]
OPERATIONS = ["matrix", "training, one GPU", "two", "SDDMM, one GPU", "two", "attention, one GPU", "two"]


def _time(row, column="step_us"):
    return f"{number(row, column):.0f}"


def _best(row):
    """Returns the time of a product, captured or not."""
    return min(number(row, "step_us"), number(row, "captured_us"))


def _efficiency(one, two):
    """Returns the time of one GPU over that of two, halved."""
    return number(one, "step_us") / _best(two) / 2


def _matrices(results):
    """Yields rows of each matrix by wire."""
    for matrix in distinct(results.rows("two-gpus"), "matrix"):
        yield {row["wire"]: row for row in results.rows("two-gpus", matrix=matrix)}


def two_gpus(results):
    lines = []
    for found in _matrices(results):
        one, two = found["one"], found["peers"]
        share = number(two, "halo_rows") / number(two, "owned_rows")
        hidden = f"{100 * min(number(two, 'hidden'), 1):.0f} %"
        times = [_time(two, column) for column in ("captured_us", "host_us", "host_captured_us", "exchange_us")]
        lines.append(
            [f"{one['matrix']} ({one['partition']})", f"{share:.1%}".replace("%", " %"), _time(one), _time(two)]
            + [f"{_efficiency(one, two):.2f}", *times, hidden]
        )
    return table(PRODUCTS, lines)


def two_gpus_others(results):
    lines = []
    for found in _matrices(results):
        best, line = _best(found["peers"]), [found["one"]["matrix"]]
        line += [f"{best:.0f}", f"{_best(found['nccl']):.0f}"]
        for wire in ("all_to_all", "all_gather"):
            line += [_time(found[wire]), f"{number(found[wire], 'step_us') / best:.2f}"]
        lines.append(line)
    return table(OTHERS, lines)


def two_gpus_operations(results):
    lines = []
    for found in _matrices(results):
        line = [found["one"]["matrix"]]
        for column in ("training_us", "sddmm_us", "attention_us"):
            line += [_time(found[wire], column) for wire in ("one", "peers")]
        lines.append(line)
    return table(OPERATIONS, lines)


def two_gpus_headline(results):
    pairs = [(found["one"], found["peers"]) for found in _matrices(results)]
    long = [2 * _efficiency(one, two) for one, two in pairs if number(one, "step_us") >= 500]
    return (
        f"**Two H100 multiply {geomean(long):.2f} times as fast as one** (geometric mean, {len(long)} graphs, f32,\n"
        "N = 128), with rows written into the memory of the other device."
    )


def _training(row, column, form):
    return format(number(row, column), form) if row[column] else row["error"] or "-"


def two_gpus_training(results):
    lines = []
    everything = results.rows("two-gpus-training")
    for matrix, model in distinct([{"of": (row["matrix"], row["model"])} for row in everything], "of"):
        one, two = (
            results.rows("two-gpus-training", matrix=matrix, model=model, processes=count)[0] for count in (1, 2)
        )
        both = one["epoch_s"] and two["epoch_s"]
        lines.append(
            [matrix, model.upper(), f"{int(one['rows']) / 1e6:.2f}", f"{int(one['nnz']) / 1e6:.1f}"]
            + [f"{one['layers']} x {int(one['hidden']) * int(one['heads'])}"]
            + [_training(row, "epoch_s", ".3f") for row in (one, two)]
            + [f"{number(one, 'epoch_s') / number(two, 'epoch_s'):.2f}" if both else "-"]
            + [f"{number(row, 'counted_gib'):.1f}" for row in (one, two)]
            + [_training(row, "peak_gib", ".1f") for row in (one, two)]
            + [f"{number(two, 'first_loss'):.3f}, {number(two, 'last_loss'):.3f}"]
        )
    head = ["matrix", "model", "million rows", "million nonzeros", "layers x width", "one GPU: s", "two: s", "speedup"]
    head += ["counted, one: GiB", "two", "peak, one: GiB", "two", "first, last loss"]
    return table(head, lines)
