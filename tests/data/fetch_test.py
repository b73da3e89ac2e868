#!/usr/bin/env python3
"""Tests data/fetch.py with archives in a directory and a server on this machine: no network."""

import contextlib
import csv
import functools
import gzip
import http.server
import io
import pathlib
import sys
import tarfile
import tempfile
import threading
import unittest
import zipfile
from unittest import mock

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "data"))

import fetch  # noqa: E402

MATRIX = b"%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n"


def tar(**members):
    """Returns a gzip'd tar; the value of a member is its bytes, or the target of a symbolic link."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            if isinstance(content, str):
                member.type, member.linkname = tarfile.SYMTYPE, content
                archive.addfile(member)
            else:
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def packed_zip(**members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def ogb(edges, nodes=4, count=2):
    members = {"edge": edges, "num-node-list": f"{nodes}\n".encode(), "num-edge-list": f"{count}\n".encode()}
    return packed_zip(**{f"ddi/raw/{name}.csv.gz": gzip.compress(text) for name, text in members.items()})


class Fetch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.server, self.output = pathlib.Path(folder.name) / "MM", pathlib.Path(folder.name) / "out"

    def put(self, path, content):
        file = self.server / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    def run_fetch(self, *arguments, address=None):
        """Returns the exit status, and what is printed on standard output and standard error."""
        mirrors = [f"--mirror={name}={address or self.server.as_uri()}" for name in fetch.COLLECTIONS]
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = fetch.main([*arguments, *mirrors, "-o", str(self.output)])
            except SystemExit as error:
                status = error.code
        return status, out.getvalue(), err.getvalue()

    def fetched(self, matrix, name):
        status, _, problem = self.run_fetch(matrix)
        self.assertEqual((status, problem), (0, ""))
        lines = (self.output / f"{name}.mtx").read_text().splitlines()
        return [line for line in lines if line.strip() != "%"]

    def assert_refused(self, matrix, pattern):
        status, _, problem = self.run_fetch(matrix)
        self.assertEqual(status, 1)
        self.assertRegex(problem, pattern)
        self.assertEqual(list(self.output.iterdir()), [])

    def test_suitesparse_copies_the_matrix_of_the_archive(self):
        self.put("G/a.tar.gz", tar(**{"a/readme": b"no", "a/a.mtx": MATRIX}))
        self.assertEqual(self.fetched("G/a", "a"), MATRIX.decode().splitlines())

    def test_a_matrix_is_not_fetched_twice(self):
        self.put("G/a.tar.gz", tar(**{"a/a.mtx": MATRIX}))
        self.fetched("G/a", "a")
        (self.server / "G/a.tar.gz").unlink()
        self.fetched("G/a", "a")

    def test_http(self):
        self.put("G/a.tar.gz", tar(**{"a/a.mtx": MATRIX}))
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=self.server)
        with mock.patch.object(handler.func, "log_message"), http.server.HTTPServer(("127.0.0.1", 0), handler) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            address = f"http://127.0.0.1:{server.server_port}"
            try:
                self.assertEqual(self.run_fetch("G/a", address=address)[0], 0)
                status, _, problem = self.run_fetch("G/none", address=address)
            finally:
                server.shutdown()
                thread.join()
        self.assertEqual((self.output / "a.mtx").read_bytes(), MATRIX)
        self.assertEqual(status, 1)
        self.assertIn("404", problem)

    def test_snap_keeps_directed_edges_and_numbers(self):
        text = b"# Directed graph (each unordered pair of nodes is saved once): web.txt\n# Nodes: 3 Edges: 3\n# FromNodeId ToNodeId\n0\t4\n4\t0\n2\t2\n"
        self.put("web.txt.gz", gzip.compress(text))
        self.assertEqual(
            self.fetched("snap:web", "web"),
            ["%%MatrixMarket matrix coordinate pattern general", "5 5 3", "1 5", "5 1", "3 3"],
        )

    def test_snap_undirected_graphs_are_symmetric(self):
        text = b"# Undirected graph: com.ungraph.txt\n# Nodes: 3 Edges: 2\n0\t1\n2\t1\n"
        self.put("c/com.ungraph.txt.gz", gzip.compress(text))
        self.assertEqual(
            self.fetched("snap:c/com.ungraph.txt.gz", "com.ungraph"),
            ["%%MatrixMarket matrix coordinate pattern symmetric", "3 3 2", "2 1", "3 2"],
        )

    def test_tudataset_has_isolated_vertices(self):
        self.put("D.zip", packed_zip(**{"D/D_A.txt": b"1, 2\n2, 1\n", "D/D_graph_indicator.txt": b"1\n1\n2\n"}))
        self.assertEqual(
            self.fetched("tudataset:D", "D"),
            ["%%MatrixMarket matrix coordinate pattern general", "3 3 2", "1 2", "2 1"],
        )

    def test_ogb_edges_stand_for_both_directions(self):
        self.put("linkproppred/ddi.zip", ogb(b"0,1\n3,2\n"))
        self.assertEqual(
            self.fetched("ogb:ogbl-ddi", "ogbl-ddi"),
            ["%%MatrixMarket matrix coordinate pattern symmetric", "4 4 2", "2 1", "4 3"],
        )

    def test_invalid_archives_leave_nothing(self):
        plain = "# Nodes: 2 Edges: {}\n{}\n"
        cases = {
            "G/link.tar.gz": (tar(**{"link/link.mtx": "/etc/passwd"}), "no regular file link/link.mtx"),
            "G/up.tar.gz": (tar(**{"../up/up.mtx": MATRIX}), "no regular file"),
            "G/other.tar.gz": (tar(**{"other/other.mtx": b"\x7fELF"}), "does not start with %%MatrixMarket"),
            "G/cut.tar.gz": (tar(**{"cut/cut.mtx": MATRIX})[:60], "."),
            "G/text.tar.gz": (b"<html>not found</html>", "."),
            "few.txt.gz": (gzip.compress(plain.format(2, "0\t1").encode()), "declares 2 edges and has 1"),
            "word.txt.gz": (gzip.compress(plain.format(1, "0\tx").encode()), "is not 2 numbers"),
            "negative.txt.gz": (gzip.compress(plain.format(1, "-1\t0").encode()), "is not 2 numbers"),
            "large.txt.gz": (gzip.compress(plain.format(1, f"0\t{2**31}").encode()), "is not 2 numbers"),
            "long.txt.gz": (gzip.compress(b"0" * (fetch.MAX_LINE + 2)), "line of more than"),
            "crc.txt.gz": (gzip.compress(b"0\t1\n")[:-8] + b"\0" * 8, "CRC"),
            "T0.zip": (packed_zip(**{"T0_A.txt": b"0, 1\n", "T0_graph_indicator.txt": b"1\n1\n"}), "from 1 to"),
            "T1.zip": (packed_zip(**{"T1_A.txt": b"1, 3\n", "T1_graph_indicator.txt": b"1\n1\n"}), "declares 2 vert"),
            "T2.zip": (packed_zip(**{"T2_A.txt": b"1, 1\n"}), "has 0 members .*/T2_graph_indicator.txt"),
            "T3.zip": (b"PK", "zip"),
            "linkproppred/ddi.zip": (ogb(b"0,1\n", count=2), "declares 2 edges and has 1"),
            "linkproppred/far.zip": (ogb(b"0,9\n", count=1), "vertex 9, but the archive declares 4"),
        }
        names = {".tar.gz": "", ".txt.gz": "snap:", ".zip": "tudataset:"}
        self.output.mkdir()
        for path, (content, pattern) in cases.items():
            with self.subTest(path):
                self.put(path, content)
                ending = next(ending for ending in names if path.endswith(ending))
                collection = "ogb:" if path.startswith("linkproppred/") else names[ending]
                self.assert_refused(collection + path, pattern)

    def test_archives_and_members_have_a_maximum_size(self):
        self.output.mkdir()
        self.put("bomb.txt.gz", gzip.compress(b"0\t1\n" * 5000))
        self.put("G/b.tar.gz", tar(**{"b/b.mtx": MATRIX + b"%" * 5000}))
        with mock.patch.object(fetch, "MAX_BYTES", 1000):
            self.assert_refused("snap:bomb", "exceeds 1000 bytes")
            self.assert_refused("G/b", "exceeds 1000 bytes")

    def test_names_that_are_not_names_are_refused_before_any_access(self):
        for matrix in ("../a", "a", "G/../a", "G/.a", "/G/a", "snap:../x", "snap:a//b", "ogb:x", "none:a", "G/a\n"):
            with self.subTest(matrix):
                status, _, _ = self.run_fetch(matrix)
                self.assertIn("expected" if not matrix.startswith("none") else "unknown collection", status)
                self.assertFalse(self.output.exists())

    def test_a_rule_selects_from_the_index(self):
        index = "3\n2026\nG,small,10,10,20,1\nG,large,6000,7000,200000,1\nG,thin,6000,10,200000,1\n"
        files = self.server.parent / "files"
        files.mkdir(parents=True)
        (files / "ssstats.csv").write_text(index)
        status, printed, _ = self.run_fetch("--rule", "rows>=5000,cols>=5000,nnz>=100000", "--list")
        self.assertEqual((status, printed), (0, "large\tsuitesparse\tG/large.tar.gz\n"))
        self.assertIn("expected rows, cols or nnz", self.run_fetch("--rule", "size>1")[0])

    def test_a_list_of_a_paper_names_what_it_cannot_fetch(self):
        status, printed, problem = self.run_fetch("--paper", "acc", "--list")
        self.assertEqual(status, 0)
        self.assertIn("DD\ttudataset\tDD.zip\n", printed)
        self.assertIn("not fetched: Reddit: dgl (reddit)", problem)


class Lists(unittest.TestCase):
    def test_lists_are_well_formed(self):
        files = sorted((ROOT / "data/papers").glob("*.tsv"))
        self.assertEqual([file.stem for file in files], ["acc", "hygnn", "libra", "rsh", "voltrix"])
        for file in files:
            with open(file, newline="") as text:
                lines = list(csv.reader(text, delimiter="\t"))
            self.assertEqual(lines[0], ["name", "collection", "url", "figures"])
            self.assertEqual(len({line[0] for line in lines}), len(lines), file)
            for name, collection, url, figures in lines[1:]:
                with self.subTest(f"{file.stem}: {name}"):
                    self.assertRegex(name, f"^{fetch.NAME.pattern}$")
                    self.assertRegex(figures, r"^(Table|Fig|Section)")
                    if collection in fetch.COLLECTIONS and "=" not in url:
                        self.assertTrue(url.endswith(fetch.COLLECTIONS[collection].ending))
                        self.assertTrue(fetch.PATH.fullmatch(url))
                    elif collection in fetch.COLLECTIONS:
                        fetch.parse_rule(url)
                    else:
                        self.assertIn(collection, ("dgl", "igb", "konect", "planetoid", "unpublished"))


if __name__ == "__main__":
    unittest.main()
