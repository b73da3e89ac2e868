#!/usr/bin/env python3
"""Gives the command forged bundles with right checksums: none may crash or hang it, or pass as sound wrongly.

    forged_bundles_test.py FORGE_BUNDLES SPTILE [--count 120] [--seed 1] [--jobs N] [--keep FOLDER]

Each forged bundle goes through info, verify, run --check and export. `verify` must call a copy with the same contents
sound. What it calls sound though something changed must be so: every format can be exported, is the matrix of /csr to the last bit that its
type can hold, and multiplies like it (a path of its own: kernels read formats without expanding them).
"""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

SECONDS = 60  # of one command; it needs milliseconds
CODES = {
    "info": {0, 3, 4},
    "verify": {0, 3, 4, 7},
    "run": {0, 2, 3, 4, 7},     # 2: the format is not there any more
    "export": {0, 2, 3, 4},
}
MATRIX = """%%MatrixMarket matrix coordinate real general
21 19 40
""" + "".join(f"{i * 11 % 21 + 1} {i * 7 % 19 + 1} {i % 9 - 4.5}\n" for i in range(40))
PATTERN = "%%MatrixMarket matrix coordinate pattern general\n18 3 5\n1 2\n9 1\n9 3\n17 3\n18 1\n"
SYMMETRIC = "%%MatrixMarket matrix coordinate real symmetric\n23 23 30\n" + "".join(
    f"{i % 23 + 1} {i * 5 % (i % 23 + 1) + 1} {i % 9 - 4.5}\n" for i in range(30))
# what the forged bundles are made of: text, options of convert
SOURCES = [
    (MATRIX, ["--reorder", "random", "--refreshable"]),
    (MATRIX, ["--dtype", "f64"]),
    (MATRIX, ["--dtype", "f16", "--reorder", "random"]),
    (MATRIX, ["--dtype", "bf16", "--refreshable"]),
    (PATTERN, ["--reorder", "random"]),
    (MATRIX, ["--reorder", "random", "--refreshable", "--transpose", "--format", "bittcf,rs_tile,libra_spmm"]),
    (SYMMETRIC, ["--reorder", "random", "--refreshable", "--transpose", "--format", "bittcf,tall"]),
]

# plans that every source gets, in formats that all of them have
PLANS = [["--format", "csr"], ["--format", "bittcf"], ["--op", "sddmm", "--format", "csr"]]


def to_bf16(x):
    """The nearest bf16, ties to even, of a number that a float holds."""
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    if x != x:
        return x
    bits += 0x7FFF + (bits >> 16 & 1)
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))[0]


def rounded(x, dtype):
    try:
        return {"f64": lambda: x, "f32": lambda: struct.unpack("f", struct.pack("f", x))[0],
                "f16": lambda: struct.unpack("e", struct.pack("e", x))[0], "bf16": lambda: to_bf16(x)}[dtype]()
    except OverflowError:
        return math.copysign(math.inf, x)


class Command:
    def __init__(self, sptile):
        self.sptile = sptile

    def run(self, verb, *arguments):
        done = subprocess.run([self.sptile, verb, *arguments, "--threads", "1"], capture_output=True, timeout=SECONDS,
                              env={k: v for k, v in os.environ.items() if not k.startswith("SPTILE_")})
        return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")

    def entries(self, bundle, form):
        """The exported matrix: its first two lines less the comments, and its entries; None where it is refused."""
        code, text, _ = self.run("export", bundle, "-", "--from", form)
        if code != 0:
            return None
        head, *lines = [line for line in text.splitlines() if not line.startswith("%")]
        fields = [line.split() for line in lines]
        return head, [(row, column, *map(float, value)) for row, column, *value in fields]


def same(a, b, dtype):
    """True when entries `b` of a format of this type are entries `a` of /csr."""
    if a is None or b is None or a[0] != b[0] or len(a[1]) != len(b[1]):
        return False
    for one, other in zip(a[1], b[1]):
        if one[:2] != other[:2] or len(one) != len(other):
            return False
        for x, y in zip(one[2:], other[2:]):
            x, y = rounded(x, dtype), rounded(y, dtype)  # text has the digits that its own type needs
            if x != y and not (x != x and y != y):
                return False
    return True


def complaints_about_soundness(command, bundle):
    """What contradicts that a bundle is sound."""
    info = json.loads(command.run("info", bundle, "--json")[1])
    formats = {f["name"]: f["dtype"] for f in info["formats"]}
    source = command.entries(bundle, "csr")
    for form, dtype in formats.items():
        if not same(source, command.entries(bundle, form), dtype if dtype != "pattern" else "f64"):
            yield f"sound, but {form} differs from csr"
        code, _, error = command.run("run", bundle, "--format", form, "-n", "3", "--repeat", "1", "--check")
        if code != 0:
            yield f"sound, but {form} does not multiply: {error.strip()}"
    for form in (f["name"] for f in (info["transpose"] or {"formats": []})["formats"]):
        code, _, error = command.run("run", bundle, "--format", form, "-n", "3", "--repeat", "1", "--check", "--transpose")
        if code != 0:
            yield f"sound, but {form} of the transpose does not multiply: {error.strip()}"


def complaints(command, bundle, contents, form):
    """Everything that is wrong with what the command does with one forged bundle."""
    calls = {
        "info": [],
        "verify": [],
        "run": ["--format", form, "-n", "3", "--repeat", "1", "--check"],
        "export": ["-", "--from", form],
        "run --transpose": ["--format", form, "-n", "3", "--repeat", "1", "--check"],
    }
    codes = {}
    for call, arguments in calls.items():
        verb, *options = call.split()
        try:
            codes[call], out, error = command.run(verb, bundle, *arguments, *options)
        except subprocess.TimeoutExpired:
            yield f"{call} hangs"
            continue
        if codes[call] not in CODES[verb]:
            yield f"{call} ends with {codes[call]}: {error[-2000:]}"
        elif codes[call] != 0 and not error.strip():
            yield f"{call} ends with {codes[call]} and says nothing"
    sound = codes.get("verify") == 0
    if contents == "same" and not sound:
        yield "the contents are the same, but verify does not call it sound"
    if contents == "changed" and sound:
        yield from complaints_about_soundness(command, bundle)


def forge(options, folder):
    """Forges bundles of every source; yields path, contents and format of each, and what was done to it."""
    command = Command(options.sptile)
    for number, (text, arguments) in enumerate(SOURCES):
        place = folder / str(number)
        place.mkdir()
        (place / "a.mtx").write_text(text)
        code, _, error = command.run("convert", str(place / "a.mtx"), str(place / "a.h5"), "-q", *arguments)
        assert code == 0, error
        for plan in PLANS:
            code, _, error = command.run("plan", str(place / "a.h5"), "--device", "cpu", "-n", "3", "-q", *plan)
            assert code == 0, error
        count = (options.count + number) // len(SOURCES)
        forged = subprocess.run([options.forge_bundles, place / "a.h5", place, str(options.seed + number), str(count)],
                                check=True, capture_output=True, text=True).stdout
        for line in forged.splitlines():
            name, contents, form, done = line.split("\t")
            yield str(place / name), contents, form, done


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("forge_bundles", type=pathlib.Path)
    parser.add_argument("sptile", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", type=pathlib.Path, help="copy the bundles that fail to this folder")
    options = parser.parse_args()
    command, wrong = Command(options.sptile), 0
    with tempfile.TemporaryDirectory(prefix="sptile-forged-") as folder:
        bundles = list(forge(options, pathlib.Path(folder)))
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            found = pool.map(lambda b: list(complaints(command, *b[:3])), bundles)
            for (path, contents, _, done), lines in zip(bundles, found):
                for line in lines:
                    print(f"{path} ({contents}; {done}): {line}", flush=True)
                if lines:
                    wrong += 1
                    if options.keep:
                        shutil.copy(path, options.keep / "-".join(pathlib.Path(path).parts[-2:]))
        same_count = sum(contents == "same" for _, contents, _, _ in bundles)
    print(f"{len(bundles)} forged bundles, {same_count} with the same contents, {wrong} handled wrongly")
    sys.exit(1 if wrong or not bundles else 0)


if __name__ == "__main__":
    main()
