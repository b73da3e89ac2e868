"""Tables and charts of SpMM and SDDMM on GPUs."""

from collections import Counter

from chart import bar_chart
from rows import counted_share, distinct, geomean, number, paragraph, ratios, row_table, slow_enough, spread, table, values

COLUMNS = (1, 8, 32, 128, 512)
H100 = (
    [("spmm", "f32", n) for n in COLUMNS]
    + [("spmm", "f16", n) for n in (32, 128, 512)]
    + [("sddmm", "f32", n) for n in (32, 128)]
)
H200 = (
    [("spmm", "f32", n) for n in (1, 4, 8, 16, 32, 128, 512)]
    + [("spmm", kind, n) for kind in ("f16", "f64") for n in (32, 128, 512)]
    + [("sddmm", kind, n) for kind in ("f32", "f16") for n in (32, 128)]
)
NAMES = {"spmm": "SpMM", "sddmm": "SDDMM"}
HEAD = [
    "operation",
    "N",
    "matrices",
    "over cuSPARSE",
    "over the best public kernel",
    "slower than it on",
    "loss of the automatic choice",
]


def _case(results, device, op, kind, n):
    return results.rows(device, op=op, type=kind, n=n)


def _over_cusparse(rows):
    """Returns speedups of the automatically chosen kernel over cuSPARSE."""
    if "auto_us" in rows[0]:
        return ratios(rows, "cusparse_us", "auto_us")
    return ratios(rows, "over_cusparse", "chosen_over_best")


def _over_public(rows):
    """Returns speedups of the automatically chosen kernel over the fastest public kernel of each matrix."""
    if "auto_us" in rows[0]:
        return ratios(rows, "public_us", "auto_us")
    return ratios(rows, "over_best_public", "chosen_over_best")


def _public_over_cusparse(rows):
    if "auto_us" in rows[0]:
        return ratios(rows, "cusparse_us", "public_us")
    return ratios(rows, "over_cusparse", "over_best_public")


def _loss(rows):
    """Returns times of the automatically chosen kernel over those of the fastest kernel of sptile."""
    return ratios(rows, "auto_us", "best_us") if "auto_us" in rows[0] else values(rows, "chosen_over_best")


def _speedups(results, device, cases):
    lines = []
    for op, kind, n in cases:
        rows = _case(results, device, op, kind, n)
        public = _over_public(rows)
        lines.append(
            [
                f"{NAMES[op]}, {kind}",
                str(n),
                str(len(rows)),
                spread(_over_cusparse(rows)),
                spread(public) if public else "not measured",
                counted_share(public, lambda ratio: ratio < 1) if public else "",
                f"{100 * (geomean(_loss(rows)) - 1):.1f} %",
            ]
        )
    return table(HEAD, lines)


def h100_speedups(results):
    return _speedups(results, "h100", H100)


def h200_speedups(results):
    return _speedups(results, "h200", H200)


def h100_headline(results):
    rows = _case(results, "h100", "spmm", "f32", 128)
    cusparse, public = geomean(_over_cusparse(rows)), geomean(_over_public(rows))
    return paragraph(
        f"**SpMM is {cusparse:.2f} times as fast as cuSPARSE and {public:.2f} times as fast as the best public kernel "
        f"of each matrix** (geometric mean, {len(rows)} matrices, f32, N = 128, one H100 80GB)."
    )


def h200_headline(results):
    rows = _case(results, "h200", "spmm", "f32", 128)
    cusparse, public = _over_cusparse(rows), _over_public(rows)
    return paragraph(
        f"**SpMM is {geomean(cusparse):.2f} times as fast as cuSPARSE** (geometric mean, {len(cusparse)} matrices, "
        f"f32, N = 128, one H200) **and {geomean(public):.2f} times as fast as the best public kernel of each matrix** "
        f"({len(public)} matrices)."
    )


def _outliers(results, device):
    """Returns the matrices that dominate a mean of SDDMM over cuSPARSE."""
    rows = results.rows(device, op="sddmm")
    found = {}
    for row, ratio in zip(rows, _over_cusparse(rows), strict=True):
        if ratio > 20:
            found.setdefault(row["matrix"], []).append(ratio)
    extremes = [ratio for ratios_of in found.values() for ratio in ratios_of]
    return paragraph(
        f"The SDDMM speedups over cuSPARSE include {' and '.join(sorted(found))}, which have a few very long rows. On "
        f"these, cuSPARSE takes {min(extremes):.0f} to {max(extremes):.0f} times as long."
    )


def h100_outliers(results):
    return _outliers(results, "h100")


def h200_outliers(results):
    return _outliers(results, "h200")


def h100_losses(results):
    """Returns the two matrices of each case with the lowest speedup over the best public kernel."""

    def speedup(row, column="auto_us"):
        return number(row, "public_us") / number(row, column)

    rows = [row for case in H100 for row in sorted(_case(results, "h100", *case), key=speedup)[:2]]
    return row_table(
        rows,
        [
            ("operation", lambda row: f"{NAMES[row['op']]}, {row['type']}"),
            ("N", "n"),
            ("matrix", "matrix"),
            ("chosen, us", "auto_us"),
            ("kernel", lambda row: f"`{row['auto_kernel']}`"),
            ("public, us", "public_us"),
            ("public kernel", "public_kernel"),
            ("speedup", lambda row: f"{speedup(row):.2f}"),
            ("speedup of the fastest sptile kernel", lambda row: f"{speedup(row, 'best_us'):.2f}"),
        ],
    )


def h100_kernels(results):
    """Returns the number of cases in which each kernel is the fastest."""
    spmm, sddmm = (results.rows("h100", op=op, type="f32") for op in ("spmm", "sddmm"))
    lines = []
    for name, rows in (("SpMM, f32", spmm), ("SpMM, f16", results.rows("h100", type="f16")), ("SDDMM, f32", sddmm)):
        counts = Counter(row["best_kernel"] for row in rows)
        shown = ", ".join(
            f"`{kernel}` {count}" for kernel, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        )
        lines.append([name, str(len(rows)), shown])
    return table(["operation", "cases", "fastest kernel, number of cases"], lines)


def formats(results):
    """Returns the speedup of the fastest kernel of each format over `csr`, and how often it is the fastest format."""
    cases = {}
    for row in results.rows("formats"):
        cases.setdefault((row["op"], row["type"], row["n"], row["matrix"]), {})[row["format"]] = number(row, "us")
    lines = []
    for op, kind in dict.fromkeys(case[:2] for case in cases):
        own = {case: times for case, times in cases.items() if case[:2] == (op, kind)}
        for name in sorted({name for times in own.values() for name in times}):
            measured = {case: times for case, times in own.items() if name in times}
            widths = sorted({int(case[2]) for case in measured})
            over = [times["csr"] / times[name] for times in measured.values() if "csr" in times]
            lines.append(
                [
                    f"{NAMES[op]}, {kind}",
                    f"`{name}`",
                    ", ".join(map(str, widths)),
                    str(len({case[3] for case in measured})),
                    spread(over) if over else "not measured",
                    counted_share([times[name] == min(times.values()) for times in measured.values()], bool),
                ]
            )
    return table(["operation", "format", "N", "matrices", "over `csr`", "fastest format in"], lines)


def shortest_products(results):
    """Returns the time of the shortest product of each kernel, by N."""
    rows = results.rows("shortest-products")
    counts = distinct(rows, "n")
    lines = [
        [f"`{kernel}`", *(next((row["us"] for row in rows if (row["kernel"], row["n"]) == (kernel, n)), "") for n in counts)]
        for kernel in sorted(distinct(rows, "kernel"))
    ]
    return table(["kernel", *(f"N = {n}" for n in counts)], lines)


def h100_resources(results):
    """Returns registers, stack and machine code of each family before and after the shared device code."""
    lines = []
    for family in distinct(results.rows("kernel-resources"), "family"):
        rows = results.rows("kernel-resources", family=family)
        count = sum(values(rows, "instances"))
        cells = [f"`{family}`", f"{count:.0f}"]
        for column, share, digits in (("registers", count, 1), ("stack_bytes", 1, 0), ("code_bytes", 1e6, 2)):
            for when in ("before", "after"):
                cells.append(f"{sum(values(rows, f'{column}_{when}')) / share:,.{digits}f}")
        lines.append(cells)
    head = ["family", "kernels", "registers", "after", "stack, bytes", "after", "code, MB", "after"]
    return table(head, lines)


def h200_graph(results):
    """Returns speedups with both sides captured in CUDA graphs."""
    lines = []
    for n in (1, 8, 32, 128):
        captured = [row for row in _case(results, "h200", "spmm", "f32", n) if row["graph_us"]]
        lines.append(
            [
                str(n),
                str(len(captured)),
                spread(values(captured, "over_cusparse")),
                spread(values(captured, "graph_over_cusparse")),
            ]
        )
    return table(["N", "matrices", "separate launches", "CUDA graph"], lines)


def h200_choice(results):
    """Returns the loss of the cost model on matrices that its constants were fitted on, and on the others."""
    lines = []
    for op, kind in (("spmm", "f32"), ("spmm", "f64"), ("spmm", "f16"), ("sddmm", "f32"), ("sddmm", "f16")):
        cells = [f"{NAMES[op]}, {kind}"]
        for fitted in (1, 0):
            losses = values(results.rows("h200", op=op, type=kind, fitted=fitted), "chosen_over_best")
            close = sum(loss <= 1.05 for loss in losses) / len(losses)
            cells += [str(len(losses)), f"{100 * (geomean(losses) - 1):.1f} %", f"{100 * close:.0f} %", f"{max(losses):.2f}"]
        lines.append(cells)
    rest = ["loss", "within 5 %", "worst"]
    return table(["operation", "fitted: cases", *rest, "held out: cases", *rest], lines)


def h200_bound(results):
    """Returns the median time over the bandwidth bound, by kernel."""
    lines = []
    for kernel in ("csr.rows", "csr.direct", "bittcf.staged", "bmat.staged", "tall.staged", "tall.wgmma"):
        cells = [f"`{kernel}`"]
        for n in (128, 512):
            over = sorted(values(results.rows("h200-floor", kernel=kernel, n=n), "over_floor"))
            middle = (over[(len(over) - 1) // 2] + over[len(over) // 2]) / 2
            cells += [str(len(over)), f"{middle:.2f}"]
        lines.append(cells)
    return table(["kernel", "N = 128: measurements", "median", "N = 512: measurements", "median"], lines)


def h200_batches(results):
    columns = [("batch", "batch"), ("matrices", "matrices"), ("speedup over one launch per matrix", "speedup")]
    return row_table(results.rows("h200-batches"), columns)


def orders(results):
    """SpMM in the original order and after `pack`."""
    lines = []
    for n in (128, 512):
        rows = slow_enough(results, n)
        gains = ratios(rows, "given_us", "packed_us")
        better = [max(1, gain) for gain in gains]
        public = [row for row in rows if row["best_over_public"]]
        lines.append(
            [
                str(n),
                str(len(rows)),
                f"{geomean(gains):.2f} ({min(gains):.2f} to {max(gains):.2f})",
                counted_share(gains, lambda gain: gain > 1),
                f"{geomean(better):.2f}",
                spread(values(public, "best_over_public")),
            ]
        )
    head = [
        "N",
        "matrices",
        "speedup of `pack` (range)",
        "faster on",
        "the better order",
        "the better order over the best public kernel",
    ]
    return table(head, lines)


def _counts(counts):
    """Returns the number of matrices for each N, given pairs of N and a number of matrices."""
    by_count = {}
    for n, count in counts:
        by_count.setdefault(count, []).append(str(n))
    if len(by_count) == 1:
        return f"{counts[0][1]} matrices"
    return " and ".join(f"{count} matrices (N = {', '.join(ns)})" for count, ns in by_count.items())


def _chart(results, device, title, caption):
    groups, counts = [], []
    for n in COLUMNS:
        rows = _case(results, device, "spmm", "f32", n)
        public = _public_over_cusparse(rows)
        groups.append((f"N = {n}", [1.0, geomean(public) if public else None, geomean(_over_cusparse(rows))]))
        counts.append((n, len(rows)))
    first = f"Geometric mean over {_counts(counts)}, in their original row order."
    series = ["cuSPARSE", "best public kernel per matrix", "sptile"]
    return bar_chart(title, "speedup over cuSPARSE", series, groups, [first, *caption])


def h100_chart(results):
    return _chart(
        results,
        "h100",
        "SpMM on one NVIDIA H100 80GB, f32",
        [
            "sptile: kernel chosen automatically. Best public kernel: the fastest of ten libraries for each matrix.",
            "f32 operands and results; tensor-core kernels multiply in TF32. CUDA graphs. N: columns of B.",
        ],
    )


def h200_chart(results):
    return _chart(
        results,
        "h200",
        "SpMM on one NVIDIA H200, f32",
        [
            "sptile: kernel chosen automatically. Best public kernel: the fastest of eight libraries (N >= 32).",
            "f32 operands and results; tensor-core kernels multiply in TF32. Separate launches. N: columns of B.",
        ],
    )


CHARTS = {"spmm.svg": h100_chart, "h200.svg": h200_chart}
