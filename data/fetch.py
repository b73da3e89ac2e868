#!/usr/bin/env python3
"""Fetches public matrices and graphs as Matrix Market files. Standard library only.

  data/fetch.py DNVS/ship_001 snap:web-BerkStan tudataset:DD ogb:ogbl-ddi -o data/downloads
  data/fetch.py --paper rsh                          the matrices of a list in data/papers
  data/fetch.py --paper rsh --list                   what would be fetched, without fetching
  data/fetch.py --rule "rows>=5000,cols>=5000,nnz>=100000" --list

A matrix is COLLECTION:PATH. Without a collection it is GROUP/NAME of the SuiteSparse Matrix Collection. PATH is the
address below that of the collection, or a name:

  suitesparse  GROUP/NAME                a Matrix Market file in an archive
  snap         NAME                      a list of edges; vertices are 0 to the maximum
  tudataset    NAME                      all graphs of a data set, block-diagonal
  ogb          ogbl-NAME or ogbn-NAME    the graph of a link or node prediction task

NAME.mtx appears in the output directory when it is complete, and is not fetched again. Archives are checked: checksums
of their format, numbers of vertices and edges that they declare, sizes. Only expected members are read, and no path of
an archive is used. --mirror replaces the address of a collection, and SPTILE_COLLECTION that of SuiteSparse.
"""

import argparse
import csv
import gzip
import io
import os
import pathlib
import re
import shutil
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
import zlib
from dataclasses import dataclass

PAPERS = pathlib.Path(__file__).resolve().parent / "papers"
NAME = re.compile(r"[A-Za-z0-9][\w.+-]*", re.ASCII)
PATH = re.compile(rf"{NAME.pattern}(/{NAME.pattern})*", re.ASCII)
MAX_INDEX = 2**31 - 1
MAX_BYTES = 64 << 30  # of an archive or of a member
MAX_LINE = 1 << 16
TIMEOUT_S = 60


class Refused(Exception):
    """A request or an archive that is not valid. The message says what would be."""


class Limited(io.RawIOBase):
    """A binary stream that fails after MAX_BYTES, whatever the archive declares."""

    def __init__(self, stream, what):
        self.stream, self.what, self.left = stream, what, MAX_BYTES

    def readable(self):
        return True

    def readinto(self, buffer):
        data = self.stream.read(len(buffer))
        self.left -= len(data)
        if self.left < 0:
            raise Refused(f"{self.what} exceeds {MAX_BYTES} bytes")
        buffer[: len(data)] = data
        return len(data)


def lines_of(stream, what):
    """Yields the lines of a binary stream as text. A line has at most MAX_LINE bytes."""
    buffered = io.BufferedReader(Limited(stream, what), 1 << 20)
    while line := buffered.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            raise Refused(f"{what} has a line of more than {MAX_LINE} bytes")
        yield line.decode("ascii", "replace").strip()


def numbers(line, what, count, separator=None, minimum=0):
    """Returns the first `count` integers of a line, all within minimum..MAX_INDEX."""
    parts = line.split(separator)
    try:
        found = [int(part) for part in parts[:count]]
    except ValueError:
        found = []
    if len(found) < count or not all(minimum <= number <= MAX_INDEX for number in found):
        raise Refused(f"{what}: {line[:60]!r} is not {count} numbers from {minimum} to {MAX_INDEX}")
    return found


@dataclass
class Edges:
    """Edges of a graph, counted from 0."""

    pairs: object
    symmetric: bool = False  # an edge stands for both directions
    vertices: int | None = None  # the declared number, if any


class MatrixMarket:
    """A Matrix Market file that appears under its name when it is complete."""

    SIZE = 96  # bytes of the comment and the size line, which are known last

    def __init__(self, target):
        self.target = target
        self.part = tempfile.NamedTemporaryFile(dir=target.parent, prefix=".part-", delete=False)  # noqa: SIM115

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        with self.part:
            if kind is None:
                self.part.flush()
                os.fsync(self.part.fileno())
        if kind is None:
            os.chmod(self.part.name, 0o644)
            os.replace(self.part.name, self.target)
        else:
            os.unlink(self.part.name)

    def copy(self, stream, what):
        """Writes a Matrix Market file."""
        source = io.BufferedReader(Limited(stream, what), 1 << 20)
        if not source.peek(14).startswith(b"%%MatrixMarket"):
            raise Refused(f"{what} does not start with %%MatrixMarket")
        shutil.copyfileobj(source, self.part)

    def write(self, edges):
        """Writes a pattern and returns its number of rows and entries."""
        kind = "symmetric" if edges.symmetric else "general"
        self.part.write(f"%%MatrixMarket matrix coordinate pattern {kind}\n".encode())
        start = self.part.tell()
        self.part.write(b" " * self.SIZE)
        count, maximum = 0, -1
        for u, v in edges.pairs:
            if edges.symmetric and u < v:
                u, v = v, u
            maximum = max(maximum, u, v)
            self.part.write(b"%d %d\n" % (u + 1, v + 1))
            count += 1
        rows = max(maximum + 1, edges.vertices or 0)
        if edges.vertices is not None and maximum >= edges.vertices:
            raise Refused(f"vertex {maximum}, but the archive declares {edges.vertices} vertices")
        self.part.seek(start)
        size = f"\n{rows} {rows} {count}\n".encode()
        self.part.write(b"%" + b" " * (self.SIZE - len(size) - 1) + size)
        return rows, count


def read_suitesparse(archive, name, output):
    unpacked = io.BufferedReader(Limited(gzip.open(archive), name))
    with unpacked, tarfile.open(fileobj=unpacked, mode="r|") as tar:
        for member in tar:
            if member.name == f"{name}/{name}.mtx" and member.isfile():
                output.copy(tar.extractfile(member), member.name)
                return
    raise Refused(f"the archive has no regular file {name}/{name}.mtx")


def read_snap(archive, name, output):
    """A list of edges after comments, which declare the number of edges. The comment "each unordered pair of nodes is
    saved once" precedes graphs with both directions too; an edge stands for both only in an "Undirected graph"."""
    with gzip.open(archive) as text:
        lines = lines_of(text, name)
        comments, first = [], None
        for first in lines:
            if not first.startswith("#"):
                break
            comments.append(first)
        head = " ".join(comments)

        def pairs():
            line = first
            while line is not None:
                if line and not line.startswith("#"):
                    yield numbers(line, name, 2)
                line = next(lines, None)

        _, count = output.write(Edges(pairs(), symmetric=head.startswith("# Undirected graph")))
    declared = re.search(r"Edges:\s*(\d+)", head)
    if declared and int(declared.group(1)) != count:
        raise Refused(f"{name} declares {declared.group(1)} edges and has {count}")


def one_member(archive, ending):
    """Returns the only member of a zip archive whose path ends with /ENDING."""
    found = [member for member in archive.infolist() if f"/{member.filename}".endswith(f"/{ending}")]
    if len(found) != 1:
        raise Refused(f"the archive has {len(found)} members .../{ending}; expected one")
    return found[0]


def read_tudataset(archive, name, output):
    """NAME_A.txt has an edge "i, j" per line, counted from 1; NAME_graph_indicator.txt has a line per vertex."""
    with zipfile.ZipFile(archive) as files:
        with files.open(one_member(files, f"{name}_graph_indicator.txt")) as text:
            vertices = sum(1 for line in lines_of(text, f"{name}_graph_indicator.txt") if line)
        what = f"{name}_A.txt"
        with files.open(one_member(files, what)) as text:
            pairs = (numbers(line, what, 2, ",", minimum=1) for line in lines_of(text, what) if line)
            output.write(Edges(((u - 1, v - 1) for u, v in pairs), vertices=vertices))


def read_ogb(archive, name, output):
    """raw/edge.csv.gz has an edge "u,v" per line, counted from 0, for both directions."""
    with zipfile.ZipFile(archive) as files:

        def lines(member):
            with files.open(one_member(files, f"raw/{member}")) as packed, gzip.open(packed) as text:
                yield from lines_of(text, member)

        vertices = sum(numbers(line, "num-node-list.csv", 1)[0] for line in lines("num-node-list.csv.gz") if line)
        count = sum(numbers(line, "num-edge-list.csv", 1)[0] for line in lines("num-edge-list.csv.gz") if line)
        pairs = (numbers(line, "edge.csv", 2, ",") for line in lines("edge.csv.gz") if line)
        _, found = output.write(Edges(pairs, symmetric=True, vertices=vertices))
    if found != count:
        raise Refused(f"{name} declares {count} edges and has {found}")


def ogb_path(name):
    task = {"ogbl": "linkproppred", "ogbn": "nodeproppred"}.get(name.partition("-")[0])
    if task is None:
        raise Refused(f"ogb:{name}: expected ogbl-NAME or ogbn-NAME")
    return f"{task}/{name.partition('-')[2]}.zip"


@dataclass(frozen=True)
class Collection:
    address: str
    ending: str  # of an archive
    path: object  # function from a name to a path
    read: object  # function from an archive, a name and an output


COLLECTIONS = {
    "suitesparse": Collection(
        os.environ.get("SPTILE_COLLECTION", "https://sparse.tamu.edu/MM"), ".tar.gz", "{}.tar.gz".format, read_suitesparse
    ),
    "snap": Collection("https://snap.stanford.edu/data", ".txt.gz", "{}.txt.gz".format, read_snap),
    "tudataset": Collection("https://www.chrsmrrs.com/graphkerneldatasets", ".zip", "{}.zip".format, read_tudataset),
    "ogb": Collection("https://snap.stanford.edu/ogb/data", ".zip", ogb_path, read_ogb),
}
RULE = "suitesparse"  # the collection with an index


@dataclass(frozen=True)
class Wanted:
    name: str
    collection: str
    path: str


def parse_matrix(text):
    """Returns the matrix that COLLECTION:PATH, COLLECTION:NAME or GROUP/NAME stands for."""
    collection, colon, path = text.partition(":")
    if not colon:
        collection, path = "suitesparse", text
    if collection not in COLLECTIONS:
        raise Refused(f"{text}: unknown collection; known: {', '.join(COLLECTIONS)}")
    if not PATH.fullmatch(path) or (collection == "suitesparse" and path.count("/") != 1):
        raise Refused(f"{text}: expected GROUP/NAME, for example DNVS/ship_001, or COLLECTION:NAME")
    known = COLLECTIONS[collection]
    name = path.rpartition("/")[2].removesuffix(known.ending)
    return Wanted(name, collection, path if path.endswith(known.ending) else known.path(path))


def read_list(file):
    """Returns the rows of a list of matrices: name, collection, url, figures."""
    with open(file, newline="", encoding="utf-8") as text:
        return list(csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE))


def parse_rule(text):
    """Returns a function that decides for rows, columns and nonzeros. A rule is "rows>=N,cols<=N,nnz>=N"."""
    bounds = []
    for condition in text.split(","):
        match = re.fullmatch(r"\s*(rows|cols|nnz)\s*(>=|<=)\s*(\d+)\s*", condition)
        if not match:
            raise Refused(f"{condition!r}: expected rows, cols or nnz, >= or <=, and a number")
        bounds.append((match.group(1), match.group(2), int(match.group(3))))
    return lambda size: all(
        size[what] >= bound if sign == ">=" else size[what] <= bound for what, sign, bound in bounds
    )


def by_rule(rule, mirrors):
    """Returns the matrices of the SuiteSparse index that a rule selects."""
    holds = parse_rule(rule)
    address = mirrors.get(RULE, COLLECTIONS[RULE].address).rpartition("/")[0] + "/files/ssstats.csv"
    with urllib.request.urlopen(address, timeout=TIMEOUT_S) as response:
        index = list(lines_of(response, "the index"))
    chosen = []
    for row in csv.reader(index[2:]):
        if len(row) < 5:
            continue
        rows, cols, nnz = numbers(" ".join(row[2:5]), "the index", 3)
        if holds({"rows": rows, "cols": cols, "nnz": nnz}):
            chosen.append(parse_matrix(f"{row[0]}/{row[1]}"))
    return chosen


def of_paper(paper, skipped):
    """Returns the matrices of a list in data/papers; appends what cannot be fetched to `skipped`."""
    wanted = []
    for row in read_list(PAPERS / f"{paper}.tsv"):
        collection, url = row["collection"], row["url"]
        if collection not in COLLECTIONS:
            skipped.append(f"{row['name']}: {collection} ({url})")
        elif ">=" in url or "<=" in url:
            skipped.append(f'{row["name"]}: a rule; fetch it with --rule "{url}"')
        else:
            wanted.append(Wanted(row["name"], collection, url))
    return wanted


def fetch(wanted, folder, mirrors):
    """Downloads a matrix and returns the path of NAME.mtx."""
    if not NAME.fullmatch(wanted.name):
        raise Refused(f"{wanted.name!r} is not a valid file name")
    target = folder / f"{wanted.name}.mtx"
    if target.exists():
        return target
    known = COLLECTIONS[wanted.collection]
    address = f"{mirrors.get(wanted.collection, known.address)}/{wanted.path}"
    with tempfile.TemporaryFile() as archive:
        with urllib.request.urlopen(address, timeout=TIMEOUT_S) as response:
            shutil.copyfileobj(io.BufferedReader(Limited(response, address)), archive)
        archive.seek(0)
        inner = wanted.path.rpartition("/")[2].removesuffix(known.ending)
        with MatrixMarket(target) as output:
            known.read(archive, inner, output)
    return target


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matrix", nargs="*", help="GROUP/NAME or COLLECTION:PATH")
    parser.add_argument(
        "--paper", choices=sorted(file.stem for file in PAPERS.glob("*.tsv")), help="fetch the matrices of a paper"
    )
    parser.add_argument("--rule", help="fetch the matrices of the SuiteSparse index with these sizes")
    parser.add_argument("--list", action="store_true", help="print what would be fetched")
    parser.add_argument("--mirror", action="append", default=[], metavar="COLLECTION=ADDRESS", help="other address")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("data/downloads"))
    options = parser.parse_args(arguments)
    options.mirrors = dict(mirror.partition("=")[::2] for mirror in options.mirror)
    if unknown := options.mirrors.keys() - COLLECTIONS.keys():
        parser.error(f"--mirror {min(unknown)}: known: {', '.join(COLLECTIONS)}")
    if not (options.matrix or options.paper or options.rule):
        parser.error("name a matrix, --paper or --rule")
    return options


ERRORS = (
    Refused,
    OSError,  # includes the errors of urllib and gzip
    EOFError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    RuntimeError,  # zipfile: encrypted, or compressed by an unknown method
)


def main(arguments=None):
    options = parse_arguments(arguments)
    skipped, failed = [], 0
    try:
        wanted = [parse_matrix(text) for text in options.matrix]
        if options.paper:
            wanted += of_paper(options.paper, skipped)
        if options.rule:
            wanted += by_rule(options.rule, options.mirrors)
    except ERRORS as error:
        sys.exit(f"fetch.py: {error}")
    for line in skipped:
        print(f"not fetched: {line}", file=sys.stderr)
    if options.list:
        for matrix in wanted:
            print(f"{matrix.name}\t{matrix.collection}\t{matrix.path}")
        return 0
    options.output.mkdir(parents=True, exist_ok=True)
    for matrix in wanted:
        try:
            print(fetch(matrix, options.output, options.mirrors))
        except ERRORS as error:
            failed += 1
            print(f"{matrix.name}: {error}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
