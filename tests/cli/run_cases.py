#!/usr/bin/env python3
"""Runs the golden tests of one verb: every CASE.sh in its folder.

A case runs under `bash -euo pipefail` in a fresh folder, with `sptile` and the helpers of tests/cli/bin on PATH and
the project's root in $ROOT. Beside CASE.sh may stand:

  CASE.exit           the exit code (without it: 0; 77 skips the case, with the reason on stderr, and the whole run
                      then ends with 77 unless a case fails)
  CASE.stdout.exact   the output after masking (below); CASE.stdout.glob: the same with * for anything
  CASE.stderr.exact   the same for stderr; CASE.stderr.glob

Without an expectation the stream must be empty. Masked are durations (`<time>`), rates, the folder of the case
(`<tmp>`), the root of the project (`<root>`) and the version. With --update the .exit and .exact files are rewritten
to what happened (.glob files are left alone).
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIP = 77
NUMBER = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?"
MASKS = [
    (re.compile(r"\b\d+ (?:min \d+ s|h \d+ min)\b"), "<time>"),
    (re.compile(rf"\b{NUMBER} (?:ns|us|ms|s)\b"), "<time>"),
    (re.compile(rf"\b{NUMBER} GFLOP/s"), "<rate>"),
    (re.compile(r"\bsptile \d+\.\d+\.\d+"), "sptile <version>"),
]


def mask(text, folder, root):
    text = text.replace(folder, "<tmp>")
    text = re.sub(rf"(?<![\w.-]){re.escape(root)}(?![\w.-])", "<root>", text)  # whole names: the root may be "/sptile"
    for pattern, word in MASKS:
        text = pattern.sub(word, text)
    # Columns are as wide as their widest number: runs of blanks say nothing once the numbers are masked.
    return re.sub(r" {2,}(?=<(?:time|rate)>)", "  ", text)


def matches_glob(pattern, text):
    expression = ".*".join(re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(expression, text, flags=re.DOTALL) is not None


class Case:
    def __init__(self, script, command, root):
        self.script, self.command, self.root = script, command, root
        self.name = script.stem

    def beside(self, ending):
        return self.script.with_name(self.name + ending)

    def run(self, helpers):
        with tempfile.TemporaryDirectory(prefix="sptile-case-") as folder:
            folder = os.path.realpath(folder)
            env = {k: v for k, v in os.environ.items() if not k.startswith("SPTILE_")}
            env.update(PATH=f"{self.command.parent}:{helpers}:{env['PATH']}", ROOT=str(self.root), LC_ALL="C.UTF-8",
                       TERM="dumb", TMPDIR=folder)
            done = subprocess.run(["bash", "-euo", "pipefail", str(self.script)], cwd=folder, env=env,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=280)
            streams = [mask(s.decode(errors="replace"), folder, str(self.root)) for s in (done.stdout, done.stderr)]
        return done.returncode, *streams

    def complaints(self, code, stdout, stderr):
        expected = int(self.beside(".exit").read_text()) if self.beside(".exit").exists() else 0
        if code != expected:
            yield f"exit code {code}, expected {expected}"
        for name, text in (("stdout", stdout), ("stderr", stderr)):
            exact, glob = self.beside(f".{name}.exact"), self.beside(f".{name}.glob")
            if glob.exists():
                if not matches_glob(glob.read_text(), text):
                    yield f"{name} does not match {glob.name}:\n{text}"
            elif text != (exact.read_text() if exact.exists() else ""):
                yield f"{name} differs{' from ' + exact.name if exact.exists() else ', nothing was expected'}:\n{text}"

    def update(self, code, stdout, stderr):
        def write(ending, text, default):
            path = self.beside(ending)
            if text == default:
                path.unlink(missing_ok=True)
            else:
                path.write_text(text)
        write(".exit", f"{code}\n", "0\n")
        for name, text in (("stdout", stdout), ("stderr", stderr)):
            if not self.beside(f".{name}.glob").exists():
                write(f".{name}.exact", text, "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sptile", type=pathlib.Path, help="the command to test")
    parser.add_argument("root", type=pathlib.Path, help="the project's root")
    parser.add_argument("folder", type=pathlib.Path, help="folder of cases")
    parser.add_argument("cases", nargs="*", help="names of cases; all without")
    parser.add_argument("--update", action="store_true", help="take what happens as what is right")
    options = parser.parse_intermixed_args()
    helpers = pathlib.Path(__file__).resolve().parent / "bin"
    scripts = sorted(s for s in options.folder.resolve().glob("*.sh") if not options.cases or s.stem in options.cases)
    assert scripts, f"no cases in {options.folder}"
    failed = skipped = 0
    for script in scripts:
        case = Case(script, options.sptile.resolve(), options.root.resolve())
        outcome = case.run(helpers)
        if outcome[0] == SKIP:
            print(f"SKIPPED {case.name}: {outcome[2].strip()}")
            skipped += 1
            continue
        if options.update:
            case.update(*outcome)
        complaints = list(case.complaints(*outcome))
        failed += bool(complaints)
        print(f"{'FAILED ' if complaints else 'ok     '} {case.name}")
        for complaint in complaints:
            print("    " + complaint.rstrip("\n").replace("\n", "\n    "))
    sys.exit(1 if failed else SKIP if skipped else 0)


if __name__ == "__main__":
    main()
