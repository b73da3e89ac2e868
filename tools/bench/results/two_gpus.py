"""Table of products on two GPUs."""

from rows import distinct, geomean, number, table

CHARTS = {}
HEAD = ["matrix", "halo rows", "one GPU", "NCCL", "captured", "peers", "captured", "host", "captured", "exchange", "efficiency"]


def _time(row, column):
    value = number(row, column)
    return f"{value:.0f}"


def _efficiency(one, other):
    """Returns the time of one GPU over that of two, halved."""
    return number(one, "step_us") / min(number(other, "step_us"), number(other, "captured_us")) / 2


def _matrices(results):
    for matrix in distinct(results.rows("two-gpus"), "matrix"):
        yield tuple(results.rows("two-gpus", matrix=matrix, wire=wire)[0] for wire in ("one", "nccl", "peers"))


def two_gpus(results):
    lines = []
    for one, nccl, peers in _matrices(results):
        share = number(peers, "halo_rows") / number(peers, "owned_rows")
        times = [_time(row, column) for row in (nccl, peers) for column in ("step_us", "captured_us")]
        lines.append(
            [f"{one['matrix']} ({one['partition']})", f"{share:.1%}".replace("%", " %"), _time(one, "step_us"), *times]
            + [_time(peers, column) for column in ("host_us", "host_captured_us", "exchange_us")]
            + [f"{_efficiency(one, peers):.2f}"]
        )
    return table(HEAD, lines)


def two_gpus_headline(results):
    found = [(_efficiency(one, peers), number(one, "step_us")) for one, _, peers in _matrices(results)]
    long = [2 * efficiency for efficiency, time in found if time >= 500]
    return (
        f"**Two H100 multiply {geomean(long):.2f} times as fast as one** (geometric mean, {len(long)} graphs, f32,\n"
        "N = 128), with rows written into the memory of the other device."
    )
