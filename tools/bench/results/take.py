#!/usr/bin/env python3
"""Reduces CSV files of `sptile bench` to formats.csv: the fastest kernel of each format.

  tools/bench/results/take.py --device "NVIDIA H100 80GB HBM3" --date 2026-01-31 --commit 1234567 BENCH.csv... \\
    > docs/results/formats.csv

A row of the output is the minimum of `median_us` over the kernels of one operation, matrix, type, N and format. Rows
with another order than the original one, and rows of cuSPARSE, are left out.
"""

import argparse
import csv
import sys
from pathlib import Path

KEY = ("op", "matrix", "type", "n", "format")
COLUMNS = (*KEY, "kernel", "precision", "us", "device", "date", "commit")


def bench_rows(files):
    """Yields the rows of sptile's kernels in the original order, with the columns of the output."""
    for file in files:
        with open(file, newline="", encoding="utf-8") as text:
            for row in csv.DictReader(text):
                if row["reorder"] != "identity" or row["kernel"].startswith("cusparse."):
                    continue
                yield {
                    "op": row["op"],
                    "matrix": Path(row["matrix"]).name.split(".mtx")[0].removesuffix(".h5"),
                    "type": row["dtype"],
                    "n": row["n"],
                    "format": row["format"].partition(":")[0],
                    "kernel": row["kernel"].removeprefix("cuda."),
                    "precision": row["precision"],
                    "us": float(row["median_us"]),
                }


def fastest(rows):
    """Returns the fastest row of each key, sorted."""
    best = {}
    for row in rows:
        key = tuple(int(row[column]) if column == "n" else row[column] for column in KEY)
        if key not in best or row["us"] < best[key]["us"]:
            best[key] = row
    return [best[key] for key in sorted(best)]


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Reduce CSV files of sptile bench to the fastest kernel of each format.")
    parser.add_argument("files", nargs="+", type=Path, metavar="BENCH.csv")
    for name in ("device", "date", "commit"):
        parser.add_argument(f"--{name}", required=True, help=f"{name} of the measurement")
    options = parser.parse_args(arguments)
    writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in fastest(bench_rows(options.files)):
        origin = {"device": options.device, "date": options.date, "commit": options.commit}
        writer.writerow(row | {"us": f"{row['us']:.2f}"} | origin)


if __name__ == "__main__":
    main()
