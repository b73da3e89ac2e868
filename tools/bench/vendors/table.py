"""Rows of the CSV file, and their summary."""

import csv
from statistics import geometric_mean

CASE = ["type", "n", "threads", "format"]
TIMES = {"mkl_us": "oneMKL", "scipy_us": "SciPy", "eigen_us": "Eigen"}
COLUMNS = [
    "matrix",
    "rows",
    "cols",
    "nonzeros",
    *CASE,
    "kernel",
    "sptile_us",
    *TIMES,
    "bytes",
    "read_us",
    "memory_gb_per_s",
    "processor",
    "date",
    "commit",
    "versions",
]


def write(path, rows):
    """Writes rows, dictionaries by column. A column that a row lacks stays empty: it was not measured."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        if rows.fieldnames != COLUMNS:
            raise SystemExit(f"{path}: not a CSV file of cpu_vendors.py; its columns must be {', '.join(COLUMNS)}")
        return list(rows)


def speedups(rows, column):
    """Returns pairs of speedup over the library of a column and name of the matrix, of the rows that have it."""
    return [(float(row[column]) / float(row["sptile_us"]), row["matrix"]) for row in rows if row.get(column)]


def bandwidths(rows):
    """Returns the bandwidth of each row over that of a read of the same number of bytes."""
    return [float(row["read_us"]) / float(row["sptile_us"]) for row in rows if row.get("read_us")]


def _groups(rows):
    found = {}
    for row in rows:
        found.setdefault(tuple(str(row[column]) for column in ("processor", *CASE)), []).append(row)
    return found


def summary(rows):
    """Returns one line per processor, type, N, number of threads and format."""
    lines, processor = [], None
    for (where, kind, n, threads, layout), group in _groups(rows).items():
        if where != processor:
            processor = where
            lines.append(where)
        parts = []
        for column, title in TIMES.items():
            ratios = speedups(group, column)
            if ratios:
                worst, name = min(ratios)
                mean = geometric_mean([ratio for ratio, _ in ratios])
                parts.append(f"over {title} {mean:.2f} ({worst:.2f} {name}; {len(ratios)} cases)")
        if bandwidths(group):
            parts.append(f"bandwidth {geometric_mean(bandwidths(group)):.2f} of a read")
        head = f"{layout} {kind} N = {n}, {threads} thread{'' if threads == '1' else 's'}: "
        lines.append(head + ("; ".join(parts) or f"{len(group)} cases"))
    return lines
