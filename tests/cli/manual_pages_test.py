#!/usr/bin/env python3
"""Checks the manual pages that the build makes: roff without a warning, a page for each verb with all its options.

    manual_pages_test.py SPTILE FOLDER

What looks at roff, man or mandoc, is skipped and said where it is missing; without both the test ends with 77.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

SKIP = 77


def warnings_of(page):
    """What man and mandoc complain about in a page; None where neither is there."""
    texts, checkers = [], [name for name in ("man", "mandoc") if shutil.which(name)]
    if "man" in checkers:
        done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, env={**os.environ, "MANROFFSEQ": "", "MANWIDTH": "80"})
        # A long word leaves a line ragged; nothing is wrong with the page.
        texts += [line + "\n" for line in done.stderr.splitlines() if "cannot adjust line" not in line]
    if "mandoc" in checkers:
        told = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], stdout=subprocess.PIPE, text=True).stdout
        # Pages have no date: the same sources make the same bytes.
        texts += [line + "\n" for line in told.splitlines() if "missing date" not in line]
    return "".join(texts) if checkers else None


def help_of(sptile, *words):
    return subprocess.run([sptile, *words, "--help"], check=True, capture_output=True, text=True).stdout


def main():
    sptile, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    verbs = re.findall(r"^  (\w+)", help_of(sptile).split("\nVerbs:\n")[1], flags=re.MULTILINE)
    pages = {path.name: path.read_text() for path in folder.glob("*.1")}
    wrong = sorted(set(pages) ^ {"sptile.1", *(f"sptile-{verb}.1" for verb in verbs)})
    common = set(re.findall(r"--[a-z-]+", pages["sptile.1"].replace("\\-", "-").split(".SH COMMON OPTIONS")[1].split(".SH")[0]))
    for verb in verbs:
        page = pages[f"sptile-{verb}.1"].replace("\\-", "-")
        for option in re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+)", help_of(sptile, verb), flags=re.MULTILINE):
            if option not in common and not re.search(rf"^\.[BT].*\n?.*{option}\b|^\\fB{option}\b", page, flags=re.MULTILINE):
                wrong.append(f"sptile-{verb}.1: {option} is missing")
    checked = [warnings_of(folder / name) for name in pages]
    wrong += [text for text in checked if text]
    print("\n".join(wrong) or f"{len(pages)} pages")
    if None in checked:
        print("SKIPPED: neither man nor mandoc is there to check the pages", file=sys.stderr)
    sys.exit(1 if wrong else SKIP if None in checked else 0)


if __name__ == "__main__":
    main()
