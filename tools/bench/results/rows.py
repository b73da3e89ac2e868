"""Rows of the result files, and the statistics that the pages quote."""

import csv
import math
import textwrap
from pathlib import Path


class Results:
    """The CSV files of one folder. Each is read once."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self._files = {}

    def rows(self, file, /, **equal):
        """Returns the rows of FILE.csv whose columns equal the given values, as dictionaries of strings."""
        if file not in self._files:
            with open(self.folder / f"{file}.csv", newline="", encoding="utf-8") as text:
                self._files[file] = list(csv.DictReader(text))
        found = [row for row in self._files[file] if all(row[column] == str(value) for column, value in equal.items())]
        if not found:
            raise SystemExit(f"{self.folder / file}.csv: no row has {equal}, which a table needs")
        return found


def number(row, column):
    """Returns the number in a column, or None if the field is empty, which means that it was not measured."""
    return float(row[column]) if row[column] else None


def ratios(rows, numerator, denominator):
    """Returns numerator over denominator for each row that has both."""
    pairs = [(number(row, numerator), number(row, denominator)) for row in rows]
    return [above / below for above, below in pairs if above is not None and below is not None]


def values(rows, column):
    """Returns the numbers of a column, without empty fields."""
    return [value for value in (number(row, column) for row in rows) if value is not None]


def distinct(rows, column):
    """Returns the values of a column in the order of the file, each once."""
    return list(dict.fromkeys(row[column] for row in rows))


def geomean(numbers):
    """Returns the geometric mean."""
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def table(head, rows):
    """Returns a Markdown table. Columns that hold a number in the last row are right-aligned."""
    rules = ["--:" if cell[:1].isdigit() else "---" for cell in rows[-1]]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, rules, *rows])


def row_table(rows, columns):
    """Returns a Markdown table with a line per row. `columns`: pairs of a heading and a column, or function of a row."""
    return table(
        [head for head, _ in columns],
        [[row[cell] if isinstance(cell, str) else cell(row) for _, cell in columns] for row in rows],
    )


def format_table(rows, cell, nonzeros=None):
    """Returns a Markdown table with a line per matrix and a column per format, cell(row). `nonzeros`: column of the file
    with the number of nonzeros, in millions."""
    formats = distinct(rows, "format")
    lines = []
    for name in distinct(rows, "matrix"):
        own = {row["format"]: row for row in rows if row["matrix"] == name}
        size = [own[formats[0]][nonzeros]] if nonzeros else []
        lines.append([name, *size, *(cell(own[kind]) for kind in formats)])
    return table(["matrix", *(["million nonzeros"] if nonzeros else []), *(f"`{kind}`" for kind in formats)], lines)


def paragraph(text):
    """Returns text in lines of at most 118 characters."""
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)


def spread(numbers):
    """Returns the geometric mean and the minimum, as the tables print them."""
    return f"{geomean(numbers):.2f} ({min(numbers):.2f})"


def range_of(numbers, digits=1):
    """Returns "minimum to maximum"."""
    return f"{min(numbers):.{digits}f} to {max(numbers):.{digits}f}"


def thousands(value):
    """Returns a number without decimals, with separators."""
    return f"{float(value):,.0f}"


def millions(row, column):
    """Returns a column in millions, with one decimal."""
    return f"{float(row[column]) / 1e6:.1f}"


def counted_share(numbers, holds):
    """Returns "K of N" for the numbers for which holds(number)."""
    return f"{sum(map(holds, numbers))} of {len(numbers)}"


def slow_enough(results, n):
    """Rows of reordered SpMM that take at least 20 us in the original order, so that launches do not dominate."""
    return [row for row in results.rows("h200-orders", n=n) if number(row, "given_us") >= 20]
