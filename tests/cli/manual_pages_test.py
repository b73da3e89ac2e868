#!/usr/bin/env python3
"""Checks the generated manual pages: valid roff, a page per verb, the options, arguments and defaults of --help.

    manual_pages_test.py SPTILE FOLDER

Exits with 77 (skipped) after all other checks if neither man nor mandoc is installed to check the roff.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

SKIP = 77


def roff_warnings(page):
    """Warnings of man and mandoc about a page; None if neither is installed."""
    texts, checkers = [], [name for name in ("man", "mandoc") if shutil.which(name)]
    if "man" in checkers:
        done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, env={**os.environ, "MANROFFSEQ": "", "MANWIDTH": "80"})
        # A long word only leaves a line ragged.
        texts += [line + "\n" for line in done.stderr.splitlines() if "cannot adjust line" not in line]
    if "mandoc" in checkers:
        printed = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], stdout=subprocess.PIPE, text=True).stdout
        # Pages have no date, so that the same sources give the same bytes.
        texts += [line + "\n" for line in printed.splitlines() if "missing date" not in line]
    return "".join(texts) if checkers else None


def help_of(sptile, *words):
    env = {**os.environ, "COLUMNS": "80"}
    return subprocess.run([sptile, *words, "--help"], check=True, capture_output=True, text=True, env=env).stdout


def names_of(head):
    """The names of an option or, as "IN", of an argument."""
    return re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", head) or re.findall(r"^[A-Z]+", head)


def help_defaults(text):
    """Default of each option and argument in a help text; None for those without one."""
    defaults = {}
    body = re.sub(r"^\w.*:$", "", re.split(r"^(?:Verbs|Kinds|Example):$", text, flags=re.MULTILINE)[0], flags=re.MULTILINE)
    for entry in re.split(r"^  (?=\S)", body, flags=re.MULTILINE)[1:]:
        flat = " ".join(entry.split("\n\n")[0].split())
        found = re.search(r"\[[^\]]*default: ([^;\]]*)[^\]]*\]$", flat)
        for name in names_of(re.split(r" {2,}|\n", entry.strip())[0]):
            defaults[name] = found.group(1) if found else None
    return defaults


def page_defaults(page):
    """The same of a manual page."""
    text = re.sub(r"\\f[BIR]", "", page).replace("\\-", "-")
    defaults = {}
    for entry in text.split("\n.TP\n")[1:]:
        head, _, body = re.split(r"\n\.(?:SH|RE|PP)", entry)[0].partition("\n")
        found = re.search(r"Default: (.*?)\.(?= (?:Range|Choices|Environment)|$)", " ".join(body.split()))
        for name in names_of(head):
            defaults[name] = found.group(1) if found else None
    return defaults


def differences(verb, shown, written):
    """Options and arguments that only one of help and manual has, and defaults that differ."""
    for name in sorted(shown.keys() | written.keys()):
        if name not in shown or name not in written:
            yield f"{verb}: {name} is only in {'the help' if name in shown else 'the manual'}"
        elif shown[name] != written[name]:
            yield f"{verb}: default of {name}: {shown[name]!r} in the help, {written[name]!r} in the manual"


def main():
    sptile, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    verbs = re.findall(r"^  (\w+)", help_of(sptile).split("\nVerbs:\n")[1], flags=re.MULTILINE)
    pages = {path.name: path.read_text() for path in folder.glob("*.1")}
    wrong = sorted(set(pages) ^ {"sptile.1", *(f"sptile-{verb}.1" for verb in verbs)})
    top_level = {"-V", "--version"}
    common = page_defaults(pages["sptile.1"].split(".SH COMMON OPTIONS")[1].split("\n.SH")[0])
    compared = 0
    for verb in verbs:
        text = help_of(sptile, verb)
        kinds = re.findall(r"^  ([\w-]+)", "".join(text.split("\nExample:")[0].split("\nKinds:\n")[1:]), flags=re.MULTILINE)
        shown = help_defaults(text)
        for kind in kinds:
            shown |= help_defaults(help_of(sptile, verb, kind))
        written = page_defaults(pages[f"sptile-{verb}.1"])
        shared = {name: default for name, default in common.items() if name not in top_level}
        wrong += differences(verb, shown, {**shared, **written})
        compared += sum(default is not None for default in shown.values())
    if compared < 100:
        wrong.append(f"only {compared} defaults were found")
    codes = re.findall(r"^\.TP\n\.B (\d+)$", pages["sptile.1"].split(".SH EXIT STATUS")[1].split("\n.SH")[0], flags=re.MULTILINE)
    if codes != ["0", "2", "3", "4", "5", "6", "7", "70"]:
        wrong.append(f"exit codes: {codes}")
    warnings = [roff_warnings(folder / name) for name in pages]
    wrong += [text for text in warnings if text]
    print("\n".join(wrong) or f"{len(pages)} pages, {compared} defaults")
    if None in warnings:
        print("SKIPPED: neither man nor mandoc is installed to check the pages", file=sys.stderr)
    sys.exit(1 if wrong else SKIP if None in warnings else 0)


if __name__ == "__main__":
    main()
