"""Tables and charts of other work on CPUs, of orderings, of start-up and of training."""

from chart import bar_chart
from rows import (
    counted_share,
    distinct,
    format_table,
    geomean,
    millions,
    number,
    paragraph,
    range_of,
    ratios,
    row_table,
    slow_enough,
    spread,
    table,
    thousands,
    values,
)

FORMATS = ("csr", "bittcf", "bmat", "rs_tile", "tall", "libra_spmm", "libra_sddmm", "me_tcf")
METHODS = ("degree", "rabbit", "affinity", "loa", "wjaccard", "pack fast", "pack", "pack quality")


# CPU


def cpu_formats(results):
    rows = results.rows("cpu-formats")
    formats = distinct(rows, "format")
    lines = []
    for name in distinct(rows, "matrix"):
        for n in (32, 128):
            cells = [results.rows("cpu-formats", matrix=name, n=n, format=kind)[0]["time_over_csr"] for kind in formats]
            lines.append([name, str(n), *cells])
    return table(["matrix", "N", *(f"`{kind}`" for kind in formats)], lines)


def cpu_batches(results):
    two = {row["batch"]: row for row in results.rows("cpu-batches", threads=2)}
    return row_table(
        results.rows("cpu-batches", threads=1),
        [
            ("batch", "batch"),
            ("matrices", "matrices"),
            ("nonzeros", lambda row: thousands(row["nonzeros"])),
            ("1 thread: us", lambda row: thousands(row["batch_us"])),
            ("speedup", "speedup"),
            ("2 threads: us", lambda row: thousands(two[row["batch"]]["batch_us"])),
            ("speedup", lambda row: two[row["batch"]]["speedup"]),
        ],
    )


def cpu_solvers(results):
    rows = results.rows("cpu-solvers", threads=2)
    lines = []
    for name in distinct(rows, "solver"):
        one, two = (values(results.rows("cpu-solvers", solver=name, threads=t), "speedup") for t in (1, 2))
        shares = [100 * share for share in values(results.rows("cpu-solvers", solver=name, threads=2), "share")]
        reached = counted_share(two, lambda speedup: speedup >= 1.5)
        lines.append([f"`{name}`", f"{range_of(shares, 0)} %", spread(one), spread(two), reached])
    head = ["solver", "products, share of the time", "1 thread", "2 threads", "1.5 times and more with 2"]
    origin = "{processor}, {date}, commit {commit}:".format(**rows[0])
    return origin + "\n\n" + table(head, lines)


def matrix_market(results):
    return row_table(
        results.rows("matrix-market"),
        [
            ("values", "values"),
            ("threads", "threads"),
            ("sptile, ms", "sptile_read_ms"),
            ("fast-matrix-market, ms", "package_read_ms"),
            ("speedup, package to COO", "speedup_to_coo"),
            ("speedup, package to CSR", "speedup_to_csr"),
            ("speedup of writing", "speedup_write"),
        ],
    )


def cpu_conversion(results):
    rows = results.rows("cpu-conversion", threads=1)
    return format_table(rows, lambda row: row["nonzeros_m_per_s_and_thread"], "nonzeros_m")


# Orderings


def _order_geomean(results, method, column, height):
    rows = results.rows("reordering", method=method, window_rows=height)
    return geomean(values(rows, column))


def _order_count(results):
    return len(results.rows("reordering", method="pack", window_rows=8))


def _order_time(results, method, height):
    """Geometric mean of CPU time over that of rabbit, without matrices that took less than the clock's resolution."""
    own = {row["matrix"]: number(row, "cpu_s") for row in results.rows("reordering", method=method, window_rows=height)}
    base = {row["matrix"]: number(row, "cpu_s") for row in results.rows("reordering", method="rabbit", window_rows=8)}
    pairs = [own[name] / base[name] for name in own if own[name] > 0 and base[name] > 0]
    return f"{geomean(pairs):.1f}" if len(pairs) >= len(own) / 2 else "below 0.1"


def reordering_headline(results):
    dense = _order_geomean(results, "pack", "nonzeros_per_block_8_rows", 8)
    rabbit = _order_geomean(results, "rabbit", "nonzeros_per_block_8_rows", 8)
    wjaccard = _order_geomean(results, "wjaccard", "nonzeros_per_block_8_rows", 8)
    gains = ratios(slow_enough(results, 128), "given_us", "packed_us")
    return paragraph(
        f"**`pack` reaches {dense:.1f} nonzeros per 8x8 block, compared with {wjaccard:.1f} for weighted Jaccard "
        f"and {rabbit:.1f} for Rabbit** "
        f"(geometric mean, {_order_count(results)} matrices). With `pack`, "
        f"SpMM with N = 128 is faster than in the original order on {counted_share(gains, lambda gain: gain > 1)} matrices."
    )


def reordering_methods(results):
    lines = []
    for method in METHODS:
        cells = [f"{_order_geomean(results, method, f'nonzeros_per_block_{rows}_rows', 8):.1f}" for rows in (8, 16)]
        columns = _order_geomean(results, method, "distinct_columns_64_rows", 8) / _order_geomean(
            results, "wjaccard", "distinct_columns_64_rows", 8
        )
        lines.append([f"`{method}`", *cells, f"{columns:.2f}", _order_time(results, method, 8)])
    head = [
        "ordering",
        "nonzeros per block, 8 rows",
        "16 rows",
        "distinct columns per 64 rows, `wjaccard` = 1",
        "CPU time, `rabbit` = 1",
    ]
    return table(head, lines)


def reordering_heights(results):
    blocks8, blocks16, columns = "nonzeros_per_block_8_rows", "nonzeros_per_block_16_rows", "distinct_columns_64_rows"
    lines = []
    for preset in ("pack fast", "pack", "pack quality"):
        cells = []
        for height, column in ((8, blocks8), (16, blocks16), (64, columns)):
            ratio = _order_geomean(results, preset, column, height) / _order_geomean(results, "wjaccard", column, 8)
            cells += [f"{ratio:.3f}", _order_time(results, preset, height)]
        lines.append([f"`{preset}`", *cells])
    heads = ("8 rows: nonzeros per block", "16 rows: nonzeros per block", "64 rows: distinct columns")
    return table(["preset", *(cell for head in heads for cell in (head, "time"))], lines)


def row_orders(results):
    """Returns the density, the seconds and the speedup of SpMM in each format by row order, over the original order."""
    rows = results.rows("h200-row-orders", window_rows=8)
    formats = distinct(rows, "format")
    times = {(row["matrix"], row["format"], row["order"]): number(row, "us") for row in rows}
    lines = []
    for order in distinct(rows, "order"):
        own = [row for row in rows if row["order"] == order and row["format"] == formats[0]]
        cells = [f"{geomean(values(own, 'nonzeros_per_tile')):.1f}", f"{sum(values(own, 'order_s')):.1f}"]
        for name in formats:
            matrices = [row["matrix"] for row in own]
            gains = [times[matrix, name, "identity"] / times[matrix, name, order] for matrix in matrices]
            cells.append(f"{geomean(gains):.2f}")
        lines.append([f"`{order}`", *cells])
    return table(["row order", "nonzeros per tile", "order, s", *(f"`{name}`" for name in formats)], lines)


def reordering_rectangular(results):
    rows = results.rows("reordering-rectangular")
    methods = distinct(rows, "method")
    lines = []
    for name in distinct(rows, "matrix"):
        own = results.rows("reordering-rectangular", matrix=name)
        lines.append([name, *(f"{number(row, 'nonzeros_per_block_8_rows'):.1f}" for row in own)])
    return table(["matrix", *(f"`{method}`" for method in methods)], lines)


def reordering_device(results):
    lines = [
        [
            row["matrix"],
            f"{number(row, 'seconds_cpu_16_threads'):.3f}",
            f"{number(row, 'seconds_device'):.3f}",
            *(f"{number(row, column) / 1e3:.3f}" for column in ("upload_ms", "graph_ms", "rounds_ms")),
            row["rounds"],
        ]
        for row in results.rows("reordering-device")
    ]
    return table(["matrix", "CPU", "device", "of which upload", "graph", "rounds", "number of rounds"], lines)


def reordering_threads(results):
    lines = []
    for method, commit in dict.fromkeys((row["method"], row["commit"]) for row in results.rows("reordering-threads")):
        rows = results.rows("reordering-threads", method=method, commit=commit)
        gains = values(rows, "speedup_2_threads")
        lines.append([f"`{method}`", commit, str(len(rows)), f"{geomean(gains):.2f}", range_of(gains, 2)])
    return table(["ordering", "commit", "matrices", "geometric mean", "range"], lines)


def reordering_many_threads(results):
    """Returns the seconds of one thread, and the speedups of more."""
    rows = results.rows("reordering-many-threads")
    counts = distinct(rows, "threads")
    lines = []
    for matrix, method in dict.fromkeys((row["matrix"], row["method"]) for row in rows):
        own = {row["threads"]: number(row, "seconds") for row in rows if (row["matrix"], row["method"]) == (matrix, method)}
        lines.append([matrix, f"`{method}`", f"{own['1']:.2f}", *(f"{own['1'] / own[count]:.1f}" for count in counts[1:])])
    return table(["matrix", "ordering", "1 thread, s", *(f"{count} threads" for count in counts[1:])], lines)


def attention_layers(results):
    """Returns time and memory of PyG, and of compiled PyG, over ours."""
    rows = results.rows("attention-layers")
    lines = []
    for layer, edge_dim in dict.fromkeys((row["layer"], row["edge_dim"]) for row in rows):
        own = [row for row in rows if (row["layer"], row["edge_dim"]) == (layer, edge_dim)]
        ours = {row["graph"]: row for row in own if row["backend"] == "sptile"}
        cells = []
        for backend in ("pyg", "compiled"):
            others = [row for row in own if row["backend"] == backend]
            for column in ("ms", "peak_mib"):
                cells.append(f"{geomean([number(row, column) / number(ours[row['graph']], column) for row in others]):.1f}")
        lines.append([f"`{layer}`", "with" if edge_dim != "0" else "without", str(len(ours)), *cells])
    return table(["layer", "edge features", "graphs", "PyG, time", "memory", "compiled, time", "memory"], lines)


def accelerated_layers(results):
    """Returns time and memory of PyG over those of the same layer in a scope."""
    rows = results.rows("accelerated-layers")
    lines = []
    for layer in dict.fromkeys(row["layer"] for row in rows):
        own = results.rows("accelerated-layers", layer=layer)
        gains = values(own, "ratio")
        memory = [number(row, "pyg_mib") / number(row, "accelerated_mib") for row in own]
        lines.append([f"`{layer}`", str(len(own)), f"{geomean(gains):.1f}", range_of(gains, 1), f"{geomean(memory):.1f}"])
    return table(["layer", "cases", "time", "range", "memory"], lines)


def reductions(results):
    """Returns how many times as long PyG's scatter takes, by reduction and type."""
    rows = results.rows("reductions")
    lines = []
    for reduce, dtype in dict.fromkeys((row["reduce"], row["dtype"]) for row in rows):
        own = results.rows("reductions", reduce=reduce, dtype=dtype)
        cells = []
        for column in ("forward_ratio", "backward_ratio"):
            gains = values(own, column)
            cells.append(f"{geomean(gains):.1f} ({min(gains):.1f})")
        lines.append([reduce, dtype, str(len(own)), *cells])
    return table(["reduction", "type", "cases", "forward", "backward"], lines)


def reordering_chart(results):
    groups = [
        (method, [_order_geomean(results, method, f"nonzeros_per_block_{rows}_rows", 8) for rows in (8, 16)])
        for method in METHODS
    ]
    return bar_chart(
        "Nonzeros per tensor-core block after reordering",
        "nonzeros per block",
        ["8x8 blocks", "16x8 blocks"],
        groups,
        [
            f"Geometric mean over {_order_count(results)} square matrices; higher is better.",
        ],
        digits=1,
    )


# Start-up


def _first_products(results):
    """Yields the name, the million nonzeros, and the rows by format of each matrix."""
    rows = results.rows("first-product")
    for name in distinct(rows, "matrix"):
        own = {row["format"]: row for row in rows if row["matrix"] == name}
        yield name.removesuffix(".h5"), millions(own["csr"], "nonzeros"), own


def start_up_headline(results):
    rows = results.rows("first-product")
    firsts = values([row for row in rows if row["format"] == "csr"], "products")
    tiles = values([row for row in rows if row["format"] not in ("csr", "me_tcf")], "products")
    return paragraph(
        f"**From CSR in device memory, the first SpMM takes as long as {range_of(firsts)} multiplications with `csr`** "
        f"and {range_of(tiles)} with a tile format, conversion and planning included (four matrices, N = 128, H200)."
    )


def first_product(results):
    return table(
        ["matrix", "million nonzeros", *(f"`{kind}`" for kind in FORMATS)],
        [[name, size, *(own[kind]["products"] for kind in FORMATS)] for name, size, own in _first_products(results)],
    )


def start_up_bundles(results):
    stored = {(row["bundle"], row["format"]): row for row in results.rows("start-up", stored="yes")}
    return row_table(
        results.rows("start-up", stored="no"),
        [
            ("bundle", lambda row: row["bundle"].removesuffix(".h5")),
            ("format", lambda row: f"`{row['format']}`"),
            ("MB", lambda row: millions(row, "bytes")),
            ("pinned copy, us", lambda row: thousands(row["pinned"])),
            ("plan, us", lambda row: thousands(row["plan"])),
            ("stored plan, us", lambda row: thousands(stored[row["bundle"], row["format"]]["plan"])),
            ("first run, us", lambda row: thousands(row["first_run"])),
        ],
    )


def plan_memory(results):
    return row_table(
        results.rows("plan-memory"),
        [
            ("bundle", lambda row: row["bundle"].removesuffix(".h5")),
            ("format", lambda row: f"`{row['format']}`"),
            ("format, MB", lambda row: millions(row, "format_bytes")),
            ("four plans, one handle, MB", lambda row: millions(row, "shared_bytes")),
            ("four handles, MB", lambda row: millions(row, "apart_bytes")),
            ("ratio", lambda row: f"{float(row['shared_bytes']) / float(row['apart_bytes']):.2f}"),
        ],
    )


def device_conversion(results):
    rows = results.rows("device-conversion")
    return format_table(rows, lambda row: f"{row['ms']} ({row['speedup_over_cpu']})", "nonzeros_m")


def first_call(results):
    columns = [("formats used", lambda row: f"`{row['formats']}`"), ("minimum, ms", "min_ms"), ("maximum, ms", "max_ms")]
    return row_table(results.rows("first-call"), columns)


def mini_batches(results):
    names = {"i64": "64-bit indices", "i32": "32-bit indices", "trusted": "32-bit indices, not checked"}
    return row_table(
        results.rows("mini-batches"),
        [
            ("CSR arrays", lambda row: names[row["form"]]),
            ("create, us", "create"),
            ("plan, us", "plan"),
            ("run, us", "run"),
            ("plan and run, 90th percentile, us", "p90"),
        ],
    )


def start_up_chart(results):
    formats = ("csr", "bittcf", "bmat", "tall")
    groups = [
        (f"{name} ({size} M)", [number(own[kind], "products") for kind in formats])
        for name, size, own in _first_products(results)
    ]
    return bar_chart(
        "First SpMM from CSR in device memory, H200",
        "multiplications",
        formats,
        groups,
        [
            "Time of conversion, planning and the first SpMM, divided by the time of one SpMM. Lower is better.",
            "N = 128, f32. In parentheses: million nonzeros.",
        ],
        digits=1,
    )


# Training

MODELS = (
    ("gcn", 64, "GCN, 3 layers, 64 features"),
    ("gcn", 256, "GCN, 3 layers, 256 features"),
    ("gat", 64, "GAT, 8 heads, 64 features"),
    ("agnn", 64, "AGNN, 64 features"),
)
BACKENDS = (("torch", "PyTorch"), ("torch kept", "PyTorch, cached transpose"), ("pyg", "PyG"))


def _training(results, model, width, backend, other, column):
    """Ratios of a column of `other` over `backend`, of the graphs that both have."""
    own, base = (
        {
            row["graph"]: number(row, column)
            for row in results.rows("training", model=model, width=width)
            if row["backend"] == name
        }
        for name in (backend, other)
    )
    return [base[graph] / own[graph] for graph in own if own[graph] is not None and base.get(graph) is not None]


def training_headline(results):
    torch = _training(results, "gcn", 64, "sptile graph", "torch", "ms")
    gat = _training(results, "gat", 64, "sptile", "pyg", "ms")
    return paragraph(
        f"**A training step of a 3-layer GCN is {geomean(torch):.1f} times as fast as with PyTorch** "
        f"(geometric mean, {len(torch)} graphs, 64 "
        f"features, CUDA graph, one H200), **and a GAT step {geomean(gat):.1f} times as fast as with PyG** "
        f"({len(gat)} graphs)."
    )


def _training_table(results, column):
    lines = []
    for model, width, name in MODELS:
        for backend, suffix in (("sptile", ""), ("sptile graph", ", CUDA graph")):
            cells = []
            for other, _ in BACKENDS:
                gains = _training(results, model, width, backend, other, column)
                cells.append(f"{spread(gains)}, {len(gains)} graphs" if gains else "")
            lines.append([name + suffix, *cells])
    return table(["model", *(f"over {name}" for _, name in BACKENDS)], lines)


def _steps(results, model, width, column, backend, other, precision, base):
    """Ratios of a column of training-steps: backend `other` in precision `base` over `backend` in `precision`."""
    own, theirs = (
        {
            row["graph"]: number(row, column)
            for row in results.rows("training-steps", model=model, width=width)
            if (row["backend"], row["precision"]) == which
        }
        for which in ((backend, precision), (other, base))
    )
    return [theirs[graph] / own[graph] for graph in own if own[graph] and theirs.get(graph)]


def training_steps(results):
    lines = []
    rows = results.rows("training-steps")
    for model, width in dict.fromkeys((row["model"], row["width"]) for row in rows):
        for backend in ("sptile", "sptile captured"):
            for precision in ("tf32", "bf16"):
                cells = [
                    _steps(results, model, width, column, backend, other, precision, base)
                    for column, other, base in (
                        ("ms", "torch", precision),
                        ("ms", "torch-cached", precision),
                        ("ms", backend, "tf32"),
                        ("first_peak_mb", "torch-cached", precision),
                        ("peak_mb", "torch-cached", precision),
                    )
                ]
                if cells[2]:
                    name = f"{model.upper()}, {width} features" + ", CUDA graph" * (backend != "sptile")
                    lines.append([name, precision, *(spread(gains) if gains else "" for gains in cells)])
    head = ["model", "type", "over PyTorch", "over cached transpose", "over its tf32 step"]
    return table([*head, "memory, first step", "memory, later steps"], lines)


def training_speedups(results):
    return _training_table(results, "ms")


def training_memory(results):
    return _training_table(results, "peak_mb")


def _epochs(row, other):
    """Returns the epochs after which the longer first step of sptile pays off."""
    extra = number(row, "sptile_first_ms") - number(row, "torch_first_ms")
    gain = number(row, other) - number(row, "sptile_ms")
    return f"{extra / gain:.0f}" if gain > 0 else "never"


def break_even(results):
    return row_table(
        results.rows("break-even"),
        [
            ("graph", "graph"),
            ("first step: PyTorch, ms", "torch_first_ms"),
            ("sptile, ms", "sptile_first_ms"),
            ("step: PyTorch, ms", "torch_ms"),
            ("cached transpose, ms", "torch_kept_ms"),
            ("sptile, ms", "sptile_ms"),
            ("break-even over PyTorch, epochs", lambda row: _epochs(row, "torch_ms")),
            ("over cached transpose", lambda row: _epochs(row, "torch_kept_ms")),
        ],
    )


def attention(results):
    lines = []
    for score in ("dot", "cosine", "additive"):
        for n in (32, 64):
            cells = [
                spread(values(results.rows("graph-layers", section="attention", name=score, n=n, heads=heads), "ratio"))
                for heads in (1, 4, 8)
            ]
            lines.append([score, str(n), *cells])
    return table(["score", "features per head", "1 head", "4 heads", "8 heads"], lines)


def update(results):
    lines = []
    for n in (32, 64, 128):
        gains = values(results.rows("graph-layers", section="update", n=n), "ratio")
        lines.append([str(n), str(len(gains)), f"{geomean(gains):.2f}", range_of(gains, 2)])
    return table(["features", "matrices", "geometric mean", "range"], lines)


def call_overhead(results):
    def time(row):
        return row["min_us"] if row["min_us"] == row["max_us"] else f"{row['min_us']} to {row['max_us']}"

    return row_table(results.rows("call-overhead"), [("device", "device"), ("call", "call"), ("host time, us", time)])


def training_chart(results):
    groups = []
    for model, width, name in MODELS:
        other = "torch" if model == "gcn" else "pyg"
        gains = [
            geomean(_training(results, model, width, backend, other, "ms")) for backend in ("sptile", "sptile graph")
        ]
        groups.append((f"{name.split(',')[0]}, {width} (vs {dict(BACKENDS)[other]})", [1.0, *gains]))
    return bar_chart(
        "Training step on one NVIDIA H200",
        "speedup",
        ["baseline", "sptile", "sptile, CUDA graph"],
        groups,
        [
            "Geometric mean over 9 graphs (GCN) or 7 graphs (GAT, AGNN); forward, backward and fused Adam, full graph.",
            "Baselines: torch.sparse.mm of PyTorch 2.11 for GCN, PyG 2.8 for GAT and AGNN. TF32 products.",
        ],
    )


CHARTS = {
    "start-up.svg": start_up_chart,
    "reordering.svg": reordering_chart,
    "training.svg": training_chart,
}
