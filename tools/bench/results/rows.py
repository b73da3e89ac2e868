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
    return f"{value:,.0f}"
