#!/usr/bin/env python3
"""Checks that the results pages and charts are what tools/bench/results/write.py makes from the CSV files."""

import contextlib
import csv
import io
import pathlib
import re
import shutil
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools/bench/results"))

import chart  # noqa: E402
import cpu  # noqa: E402
import rows  # noqa: E402
import take  # noqa: E402
import write  # noqa: E402

PAGES = ROOT / "docs/results"
SVG = "{http://www.w3.org/2000/svg}"


def run(folder, *options):
    """Returns the exit status of write.py, and what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        status = write.main([*options, str(folder)])
    return status, printed.getvalue()


class CommittedPages(unittest.TestCase):
    def test_pages_and_charts_equal_what_the_script_makes(self):
        self.assertEqual(run(PAGES, "--check"), (0, ""))

    def test_every_csv_file_is_listed_in_the_index(self):
        index = (PAGES / "README.md").read_text()
        self.assertEqual([file.name for file in PAGES.glob("*.csv") if f"]({file.name})" not in index], [])

    def test_every_chart_is_shown_by_a_page(self):
        pages = "".join(page.read_text() for page in PAGES.glob("*.md"))
        self.assertEqual([name for name in write.CHARTS if f"]({name})" not in pages], [])


def kinds():
    """Returns the kinds of `sptile gen`, as the command reference lists them."""
    reference = (ROOT / "docs/reference/commands.md").read_text()
    section = reference.split("\n## `sptile gen`\n")[1].split("\n## ")[0]
    return set(re.findall(r"^#### `([\w-]+)`$", section, re.MULTILINE))


def measured():
    """Returns file, matrix and row of every row of a CSV file that names a matrix."""
    for file in sorted(PAGES.glob("*.csv")):
        with open(file, newline="") as text:
            for row in csv.DictReader(text):
                for column in {"matrix", "graph", "bundle", "worst_matrix"} & row.keys():
                    yield file.name, row[column].removesuffix(".h5"), row


class SyntheticMatrices(unittest.TestCase):
    """A synthetic matrix has the name of a kind of `sptile gen`, never that of a data set."""

    def test_generated_rows_name_a_kind(self):
        generated = {name for _, name, row in measured() if row.get("kind") == "generated"}
        self.assertTrue(generated)
        self.assertEqual(generated - kinds(), set())

    def test_names_in_like_are_kinds(self):
        replicas = {name for _, name, _ in measured() if "-like" in name}
        self.assertTrue(replicas)
        self.assertEqual(replicas - kinds(), set())

    def test_no_replica_has_the_name_of_its_data_set(self):
        data_sets = {kind.split("-like")[0] for kind in kinds() if "-like" in kind} | {"reddit-ord", "ddi"}
        found = {(file, name) for file, name, row in measured() if name.lower() in data_sets and not is_dd(row)}
        self.assertEqual(found, set())

    def test_the_index_lists_the_replicas(self):
        index = (PAGES / "README.md").read_text()
        self.assertEqual([kind for kind in kinds() if "-like" in kind and f"| `{kind}` |" not in index], [])


class PublicKernels(unittest.TestCase):
    """public-kernels.csv has every figure of a public kernel that a table uses."""

    OPERANDS = {"f16": ("fp16",), "f32": ("fp32", "tf32")}

    def figures(self, device, op, matrix, kernel, n, kind):
        times = {
            float(row["us"])
            for row in self.kernels
            if (row["op"], row["matrix"], row["kernel"], row["n"]) == (op, matrix, kernel, n)
            and row["device"].startswith(f"NVIDIA {device}")
            and row["precision"] in self.OPERANDS[kind]
        }
        self.assertTrue(times, f"{device}: no figure of {kernel}, {op}, {matrix}, N = {n}, {kind}")
        return times

    @classmethod
    def setUpClass(cls):
        cls.kernels = rows.Results(PAGES).rows("public-kernels")

    def test_figures_of_the_h100_are_equal(self):
        for row in rows.Results(PAGES).rows("h100"):
            if row["public_us"]:
                case = [row[column] for column in ("op", "matrix", "public_kernel", "n", "type")]
                self.assertIn(float(row["public_us"]), self.figures("H100", *case))

    def test_ratios_of_the_h200_are_those_of_the_figures(self):
        for row in rows.Results(PAGES).rows("h200"):
            if row["best_public"]:
                case = [row[column] for column in ("op", "matrix", "best_public", "n", "type")]
                quoted = float(row["us"]) * float(row["over_best_public"])
                self.assertLess(min(abs(us / quoted - 1) for us in self.figures("H200", *case)), 0.01, case)

    def test_every_figure_is_used(self):
        used = {(row["op"], row["matrix"], row["public_kernel"], row["n"]) for row in rows.Results(PAGES).rows("h100")}
        for file in ("h200", "h200-orders"):
            for row in rows.Results(PAGES).rows(file):
                used.add((row.get("op", "spmm"), row["matrix"], row["best_public"], row["n"]))
        found = {(row["op"], row["matrix"], row["kernel"], row["n"]) for row in self.kernels}
        self.assertEqual(found - used, set())


def is_dd(row):
    """Returns whether the row is of DD, the only data set with a replica that was measured too."""
    return "DD" in row.values() and row.get("nonzeros", "1686092") == "1686092"


class Copy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.pages = pathlib.Path(folder.name) / "results"
        shutil.copytree(PAGES, self.pages)

    def replace(self, name, old, new):
        text = (self.pages / name).read_text()
        self.assertIn(old, text)
        (self.pages / name).write_text(text.replace(old, new, 1))

    def test_a_changed_measurement_is_found_and_written(self):
        file = self.pages / "h100.csv"
        lines = file.read_text().splitlines()
        place = next(i for i, line in enumerate(lines) if line.startswith("spmm,f32,128,"))
        fields = lines[place].split(",")
        fields[lines[0].split(",").index("auto_us")] = "0.01"
        file.write_text("\n".join([*lines[:place], ",".join(fields), *lines[place + 1 :]]) + "\n")
        status, printed = run(self.pages, "--check")
        self.assertEqual(status, 1)
        for name in ("README.md", "h100.md", "spmm.svg"):
            self.assertIn(f"{name}: differs", printed)
        self.assertEqual(run(self.pages)[0], 0)
        self.assertEqual(run(self.pages, "--check"), (0, ""))

    def test_figures_of_another_processor_have_a_table_that_names_it(self):
        file = self.pages / "cpu-vendors.csv"
        with open(file, newline="") as text:
            measured = list(csv.DictReader(text))
        other = "Other (model 1), AVX2, 4 cores, 8 MiB cache"
        twice = [
            row | {"processor": other, "mkl_us": str(2 * float(row["sptile_us"])), "eigen_us": ""} for row in measured
        ]
        with open(file, "w", newline="") as text:
            writer = csv.DictWriter(text, measured[0])
            writer.writeheader()
            writer.writerows(measured + twice)
        headline = cpu.cpu_headline(rows.Results(PAGES))
        self.assertEqual(run(self.pages)[0], 0)
        page = (self.pages / "cpu.md").read_text()
        blocks = {name: text for name, text in re.findall(r"<!-- begin ([\w-]+) -->\n(.*?)<!-- end", page, re.DOTALL)}
        self.assertEqual(blocks["cpu-headline"].strip(), headline)
        self.assertIn(f"{other}:\n\n| N | f32, 1 thread |", blocks["cpu-mkl"])
        self.assertIn("| 1 | 2.00 (2.00) | 2.00 (2.00) | 2.00 (2.00) | 2.00 (2.00) |", blocks["cpu-mkl"])
        self.assertNotIn(other, blocks["cpu-eigen"])

    def test_an_edited_chart_is_found(self):
        self.replace("spmm.svg", "cuSPARSE", "another library")
        self.assertEqual(run(self.pages, "--check")[0], 1)

    def test_an_edited_headline_is_found(self):
        self.replace("h200.md", "times as fast as cuSPARSE", "as fast as cuSPARSE")
        self.assertEqual(run(self.pages, "--check")[0], 1)

    def test_an_unknown_block_is_named(self):
        (self.pages / "cpu.md").write_text("<!-- begin nothing -->\n<!-- end nothing -->\n")
        with self.assertRaisesRegex(SystemExit, "unknown block 'nothing'"):
            run(self.pages)

    def test_a_block_that_no_page_has_is_named(self):
        (self.pages / "cpu.md").unlink()
        with self.assertRaisesRegex(SystemExit, "no page has .*cpu-mkl"):
            run(self.pages)


class Formats(unittest.TestCase):
    def test_the_newest_results_have_every_format(self):
        pages = {page.stem for page in (ROOT / "docs/reference/formats").glob("*.md")} - {"README", "bundle", "partition"}
        self.assertEqual({row["format"] for row in rows.Results(PAGES).rows("formats")}, pages)


class Reduction(unittest.TestCase):
    def test_the_fastest_kernel_of_a_format_is_kept(self):
        columns = ["op", "matrix", "dtype", "n", "format", "kernel", "precision", "median_us", "reorder"]
        lines = [
            ["spmm", "a.mtx.xz", "f32", "128", "bittcf", "cuda.bittcf.mma", "tf32", "5.001", "identity"],
            ["spmm", "m/a.mtx.xz", "f32", "128", "bittcf", "cuda.bittcf.staged", "tf32", "4.004", "identity"],
            ["spmm", "a.mtx.xz", "f32", "128", "bittcf", "cuda.bittcf.acc", "tf32", "1.0", "pack"],
            ["spmm", "a.mtx.xz", "f32", "128", "csr", "cusparse.csr.alg2", "fp32", "2.0", "identity"],
            ["spmm", "b.h5", "f16", "32", "tall:128", "cuda.tall.wgmma", "fp16", "3", "identity"],
        ]
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "bench.csv"
            file.write_text("".join(",".join(line) + "\n" for line in [columns, *lines]))
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                take.main([str(file), "--device", "GPU", "--date", "2026-01-31", "--commit", "1234567"])
        self.assertEqual(
            printed.getvalue().splitlines(),
            [
                "op,matrix,type,n,format,kernel,precision,us,device,date,commit",
                "spmm,a,f32,128,bittcf,bittcf.staged,tf32,4.00,GPU,2026-01-31,1234567",
                "spmm,b,f16,32,tall,tall.wgmma,fp16,3.00,GPU,2026-01-31,1234567",
            ],
        )


class Statistics(unittest.TestCase):
    def test_geometric_mean(self):
        self.assertAlmostEqual(rows.geomean([2.0, 8.0]), 4.0)

    def test_spread_prints_the_mean_and_the_minimum(self):
        self.assertEqual(rows.spread([2.0, 8.0]), "4.00 (2.00)")

    def test_ratios_skip_empty_fields(self):
        self.assertEqual(rows.ratios([{"a": "6", "b": "3"}, {"a": "", "b": "1"}], "a", "b"), [2.0])

    def test_columns_of_numbers_are_right_aligned(self):
        self.assertEqual(rows.table(["name", "us"], [["x", "1.5"]]), "| name | us |\n| --- | --: |\n| x | 1.5 |")


class Chart(unittest.TestCase):
    def test_bars_are_as_high_as_their_values(self):
        root = xml.fromstring(
            chart.bar_chart("title", "axis", ["a", "b"], [("x", [1.0, 2.0]), ("y", [None, 4.0])], ["caption"])
        )
        bars = [
            bar
            for bar in root.iter(f"{SVG}rect")
            if bar.get("x") and bar.get("fill") in chart.COLOURS[2] and bar.get("height") != "12"
        ]
        heights = [float(bar.get("height")) for bar in bars]
        self.assertEqual(len(heights), 3)
        self.assertAlmostEqual(heights[1] / heights[0], 2, places=1)
        self.assertAlmostEqual(heights[2] / heights[0], 4, places=1)

    def test_text_is_escaped(self):
        root = xml.fromstring(chart.bar_chart("a < b", "axis", ["a", "b"], [("x & y", [1.0, 2.0])], []))
        self.assertEqual(root.find(f"{SVG}title").text, "a < b")


if __name__ == "__main__":
    unittest.main()
