"""Tables and charts of products on CPUs, one table per processor."""

from chart import bar_chart
from rows import counted_share, distinct, geomean, paragraph, ratios, row_table, spread, table, values

FILE = "cpu-vendors"
TYPES = ("f32", "f64")
THREADS = (1, 2)
CASES = [(kind, threads) for kind in TYPES for threads in THREADS]
CASE_HEADS = [f"{kind}, {threads} thread{'s' if threads > 1 else ''}" for kind, threads in CASES]
MEGABYTE = 1e6
SIZES = (  # total bytes of A, B and C
    ("up to 1 MB", 0, MEGABYTE),
    ("1 to 10 MB", MEGABYTE, 10 * MEGABYTE),
    ("over 10 MB", 10 * MEGABYTE, float("inf")),
)


def _rows(results, **equal):
    return results.rows(FILE, format="csr", **equal)


def _processors(results):
    return distinct(_rows(results), "processor")


def _short(processor):
    """Returns the name of a processor without family, caches and cores."""
    return processor.split(" (")[0].split(",")[0]


def _columns(results):
    return sorted({int(row["n"]) for row in _rows(results)})


def _speedups(results, baseline, **equal):
    return ratios(_rows(results, **equal), f"{baseline}_us", "sptile_us")


def _by_processor(results, make):
    """Returns the table of each processor, `make(processor)`, below the name of the processor."""
    parts = []
    for processor in _processors(results):
        made = make(processor)
        if made:
            parts.append(f"{processor}:\n\n{made}")
    return "\n\n".join(parts)


def _over(baseline):
    """Returns the function that makes the tables of speedups over a library; a processor without it has no table."""

    def make(results, processor):
        lines = []
        for n in _columns(results):
            found = [
                _speedups(results, baseline, processor=processor, n=n, type=kind, threads=threads)
                for kind, threads in CASES
            ]
            if not all(found):
                return ""
            lines.append([str(n), *map(spread, found)])
        return table(["N", *CASE_HEADS], lines)

    return lambda results: _by_processor(results, lambda processor: make(results, processor))


def cpu_headline(results):
    processor = _processors(results)[0]

    def mean(baseline, n, threads):
        return geomean(_speedups(results, baseline, processor=processor, n=n, type="f32", threads=threads))

    count = len(_rows(results, processor=processor, n=1, type="f32", threads=1))
    first, *_, last = _columns(results)
    return paragraph(
        f"**On one core of an {_short(processor)}, `csr` is {mean('mkl', last, 1):.1f} times as fast as oneMKL and "
        f"{mean('scipy', last, 1):.1f} times as fast as SciPy at N = {last}**, and {mean('mkl', first, 1):.2f} and "
        f"{mean('scipy', first, 1):.2f} times as fast at N = {first} (geometric mean, {count} matrices, f32)."
    )


def cpu_processors(results):
    def processor_rows(row):
        return _rows(results, processor=row["processor"])

    def listed(column, separator=", "):
        return lambda row: separator.join(distinct(processor_rows(row), column))

    def rates(row):
        rows = processor_rows(row)
        found = (values([r for r in rows if r["threads"] == str(threads)], "memory_gb_per_s") for threads in THREADS)
        return " and ".join(f"{max(rate):.0f}" for rate in found if rate)

    return row_table(
        [{"processor": processor} for processor in _processors(results)],
        [
            ("processor", "processor"),
            ("libraries", listed("versions", "; ")),
            ("matrices", lambda row: str(len(distinct(processor_rows(row), "matrix")))),
            ("read of memory with 1 and 2 threads, GB/s", rates),
            ("date", listed("date")),
            ("commit", listed("commit")),
        ],
    )


def cpu_slower(results):
    """Returns cases in which oneMKL is faster, and the slowest of each N."""

    def line(processor, n):
        rows = [row for row in _rows(results, processor=processor, n=n) if row["mkl_us"]]
        if not rows:
            return None
        found = ratios(rows, "mkl_us", "sptile_us")
        worst, row = min(zip(found, rows, strict=True), key=lambda pair: pair[0])
        case = f"{row['type']}, {row['threads']} thread{'s' if row['threads'] != '1' else ''}"
        slower = counted_share(found, lambda ratio: ratio < 1)
        return [str(n), slower, row["matrix"], case, f"{worst:.2f}"]

    def make(processor):
        lines = [line(processor, n) for n in _columns(results)]
        head = ["N", "cases in which oneMKL is faster", "slowest case", "type and threads", "speedup"]
        return table(head, lines) if all(lines) else ""

    return _by_processor(results, make)


def cpu_bandwidth(results):
    """Returns the bandwidth over that of a read of the same size, by size."""

    def cell(rows, kind, threads):
        own = [row for row in rows if (row["type"], row["threads"]) == (kind, str(threads))]
        return f"{geomean(ratios(own, 'read_us', 'sptile_us')):.2f} ({len(own)})" if own else ""

    def make(processor):
        measured = [row for row in _rows(results, processor=processor, n=1) if row["read_us"]]
        lines = []
        for name, low, high in SIZES:
            rows = [row for row in measured if low < float(row["bytes"]) <= high]
            lines.append([name, *(cell(rows, kind, threads) for kind, threads in CASES)])
        return table(["size of A, B and C", *CASE_HEADS], lines) if measured else ""

    return _by_processor(results, make)


def cpu_chart(results):
    processor = _processors(results)[0]
    groups = []
    for n in _columns(results):
        means = [geomean(_speedups(results, "mkl", processor=processor, n=n, type=kind, threads=1)) for kind in TYPES]
        groups.append((f"N = {n}", [1.0, *means]))
    count = len(_rows(results, processor=processor, n=1, type="f32", threads=1))
    return bar_chart(
        f"SpMV and SpMM on one core of an {_short(processor)}",
        "speedup over oneMKL",
        ["oneMKL", *(f"sptile (csr), {kind}" for kind in TYPES)],
        groups,
        [f"Geometric mean over {count} matrices, one thread. {processor}."],
    )


cpu_mkl, cpu_scipy, cpu_eigen = map(_over, ("mkl", "scipy", "eigen"))
CHARTS = {"cpu.svg": cpu_chart}
