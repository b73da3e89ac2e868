#!/usr/bin/env python3
"""Checks that the man page and --help agree: the same verbs, the same options with each, the same exit codes."""
import pathlib
import re
import subprocess
import sys

OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|-[a-zA-Z])(?![\w-])")


def help_of(sptile, *words):
    return subprocess.run([sptile, *words, "--help"], check=True, capture_output=True, text=True).stdout


def help_sections(text):
    """The part of a help before its example, split in (options, names of subcommands)."""
    text = text.split("\nExample:")[0]
    options = {option for line in re.findall(r"^  (-.*)$", text, flags=re.MULTILINE)
               for option in OPTION.findall(re.split(r"\s{2,}| [A-Z]+[: ]", line)[0])}
    commands = re.split(r"^(?:Verbs|Kinds):$", text, flags=re.MULTILINE)[1:]
    return options, re.findall(r"^  (\w+)", "".join(commands), flags=re.MULTILINE)


def plain(roff):
    return roff.replace("\\-", "-").replace("\\fI", "").replace("\\fR", "")


def manual_parts(page):
    """Text of each .SH and .SS part by name."""
    parts = re.split(r"^\.S[HS] (.*)$", page, flags=re.MULTILINE)
    return dict(zip(parts[1::2], map(plain, parts[2::2])))


def main():
    sptile, page = sys.argv[1], pathlib.Path(sys.argv[2]).read_text()
    parts, wrong = manual_parts(page), []
    common = set(OPTION.findall(parts["COMMON OPTIONS"]))
    top_options, verbs = help_sections(help_of(sptile))
    assert len(verbs) >= 9, verbs
    for option in top_options - set(OPTION.findall(parts["SYNOPSIS"])):
        wrong.append(f"sptile --help has {option}, the SYNOPSIS has not")
    for verb in verbs:
        if verb not in parts:
            wrong.append(f"no part about {verb}")
            continue
        options, kinds = help_sections(help_of(sptile, verb))
        for kind in kinds:
            options |= help_sections(help_of(sptile, verb, kind))[0]
            if not re.search(rf'^\.BI "{kind} ', parts[verb], flags=re.MULTILINE):
                wrong.append(f"{verb}: the kind {kind} is missing")
        described = set(OPTION.findall(parts[verb]))
        wrong += [f"{verb}: {o} is in the help only" for o in sorted(options - described - common)]
        wrong += [f"{verb}: {o} is in the man page only" for o in sorted(described - options - common)]
        wrong += [f"{verb}: {o} is missing in the help" for o in sorted(common - options)]
    codes = set(re.findall(r"^\.B (\d+)$", parts["EXIT CODES"], flags=re.MULTILINE))
    if codes != {"0", "2", "3", "4", "5", "6", "7", "70"}:
        wrong.append(f"exit codes: {sorted(codes)}")
    print("\n".join(wrong) or f"{len(verbs)} verbs agree")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
