#!/usr/bin/env python3
"""Fetches matrices of the SuiteSparse Matrix Collection as Matrix Market files. Standard library only.

  data/fetch_suitesparse.py DNVS/ship_001 SNAP/roadNet-CA -o data/downloads

Each archive is checked to be a gzip'd tar that holds NAME/NAME.mtx; that one file appears in the output folder, whole or
not at all. SPTILE_COLLECTION replaces the address of the collection (a mirror, or file:///some/folder).
"""
import argparse
import os
import pathlib
import shutil
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request

COLLECTION = os.environ.get("SPTILE_COLLECTION", "https://sparse.tamu.edu/MM")


def fetch(matrix, folder):
    """Downloads GROUP/NAME and returns the path of NAME.mtx."""
    name = matrix.split("/")[1]
    target = folder / f"{name}.mtx"
    if target.exists():
        return target
    with tempfile.NamedTemporaryFile(suffix=".tar.gz") as archive:
        with urllib.request.urlopen(f"{COLLECTION}/{matrix}.tar.gz") as response:
            shutil.copyfileobj(response, archive)
        archive.flush()
        with tarfile.open(archive.name, "r:gz") as tar:
            member = tar.extractfile(f"{name}/{name}.mtx")
            with tempfile.NamedTemporaryFile(dir=folder, delete=False) as part:
                try:
                    shutil.copyfileobj(member, part)
                    part.flush()
                    os.fsync(part.fileno())
                    os.chmod(part.name, 0o644)
                    os.replace(part.name, target)
                except BaseException:
                    os.unlink(part.name)
                    raise
    return target


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matrix", nargs="+", help="GROUP/NAME, for example DNVS/ship_001")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("data/downloads"))
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    for matrix in arguments.matrix:
        if matrix.count("/") != 1:
            parser.error(f"{matrix}: expected GROUP/NAME, for example DNVS/ship_001")
        try:
            print(fetch(matrix, arguments.output))
        except (urllib.error.URLError, tarfile.TarError, KeyError, OSError) as error:
            sys.exit(f"{matrix}: {error}; see the collection's index for the exact GROUP/NAME")


if __name__ == "__main__":
    main()
