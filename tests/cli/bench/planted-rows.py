"""Writes rows of measured.csv as another run would have them: planted-rows.py IN OUT FACTOR [KERNEL=FACTOR | COLUMN:VALUE]..."""
import csv
import sys

source, target, factor, *changes = sys.argv[1:]
rows = list(csv.DictReader(open(source, newline="")))
for row in rows:
    times = float(factor)
    for change in changes:
        if ":" in change:
            column, value = change.split(":")
            row[column] = value
        elif row["kernel"] == change.split("=")[0]:
            times *= float(change.split("=")[1])
    for column in ("median_us", "min_us"):
        row[column] = repr(float(row[column]) * times)
with open(target, "w", newline="") as file:
    writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
