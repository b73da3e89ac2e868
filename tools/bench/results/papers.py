"""Tables that compare the figures of five papers with sptile."""

from rows import number, table

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
        yield [f"{row['experiment']}: {row['measure']}", _published(row), way, best, f"`{row['command']}`", row["why"]]


def _paper(results, paper):
    return table(HEAD, list(_lines(results, paper)))


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
