#!/usr/bin/env python3
"""Counts unidiomatic constructions in strings, public headers, documentation and comments.

    prose.py [--root FOLDER] [--list [FOLDER]...] [--update]

Fails when a folder has more hits of a kind than tools/lint/prose-counts.tsv allows, and names them. A folder without a
row is allowed none, so a folder that reaches zero stays there. --update writes the current counts: commit it when they
fall. --list prints every hit, in the given folders only if there are any. Exceptions, each with its reason, are in
tools/lint/prose-exceptions.tsv.
"""
import argparse
import ast
import collections
import fnmatch
import io
import pathlib
import re
import shutil
import subprocess
import sys
import tokenize

# Construction -> what to write instead.
PATTERNS = {
    r"(?<!there )\b(?:is|are) no (?!longer\b|more\b|less\b|fewer\b|other\b|different\b)": "is not a ...",
    r"\b(?:nobody|whoever)\b": "name the function or the caller",
    r"\b(?:is|are|was|were|be) wanted\b|\bwants\b": "requires, requested, expected",
    r"\btells?\b|\bis told\b": "prints, reports, states; takes, receives",
    r"\bpaints?\b": "render, draw",
    r"\bstands? (?:behind|beside|for|in|there|on)\b|\bas (?:it|they) stands?\b": "is, follows, represents; in original order",
    r"\bgoes with\b": "requires, belongs to",
    r"\bbeside\b": "in addition to, compared with, next to",
    r"\b(?<!left )behind\b": "after",
    r"\bin front of\b": "before",
    r"\bserves?\b": "supports",
    r"\b(?:so|as) many\b": "a count: n, the number of",
    r"\bcomes? to\b|\bcomes out as\b": "is, totals",
    r"\bother ones?\b": "repeat the noun",
    r"\bin the mean\b": "on average, geometric mean",
    r"\bon (?:its|their) way\b": "in flight",
    r"\bmade-up\b": "synthetic, generated",
    r"\btried and left\b": "rejected alternatives",
    r"\bit is (?:they|it) that\b": "repeat the noun",
}
# Constructions that only comments and public headers are searched for: in docs and messages they can be correct.
COMMENT_PATTERNS = {
    r"^\s*(?:What|Which|Whether|How|Who|Where(?! possible)|(?-i:As)(?! long)|For wh(?:at|ich|om)|Of|Says)\b": "open with a noun or a verb",
    r"^\s*(?:The same (?:for|of|with|as)|(?:True|False) (?:where|when|of|for))\b": "works like ...; returns whether ...",
    r"\b(?:the one|the ones|those) (?:before|behind|after)\b": "the previous ..., the next ...",
    r"\b(?:is|are|was|were) (?:asked|told)\b|\basks? for\b": "requests, requires, receives",
    r"\b(?:has|have|is|makes?|gives?|without|the) room\b|\broom for\b": "space, capacity; allocates",
    r"\b(?:meets|brings|knows|looks at)\b": "contains, adds, has, reads",
    r"\bso much\b|\beach once\b": "a count; without duplicates",
    r"\b(?:stands?|stood)\b(?!-)": "is, is stored, represents",
    r"\b(?:none|null|nothing|empty|false|true|0) where\b": "if",
    r"\bwhere (?:it|there|that|they) (?:is|are|has|have|was|were)\b": "if, when",
    r"\bone (?:behind|after) the other\b": "consecutively, in turn",
    r"\b(?:first|second) cache\b": "L1, L2",
    r"\bleft aside\b": "ignored",
    r"\bwho\b": "name the function or the caller",
}


def compiled(patterns):
    return re.compile("|".join(f"(?P<p{i}>{pattern})" for i, pattern in enumerate(patterns)), re.IGNORECASE)


PATTERN, COMMENT_PATTERN = compiled(PATTERNS), compiled({**PATTERNS, **COMMENT_PATTERNS})
ADVICE = [*PATTERNS.values(), *COMMENT_PATTERNS.values()]

CPP = (".h", ".hpp", ".cpp", ".cu", ".cuh", ".c")
PUBLIC_HEADERS = ("runtime/include/sptile.h", "runtime/include/sptile.hpp", "runtime/include/sptile_dist.hpp", "runtime/include/sptile_dist/*.hpp",
                  "tools/capi/sptile_tools.h")
SOURCES = ("formats", "reorder", "runtime", "tools")
CPP_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|' r"'(?:\\.|[^'\\\n])+'", re.DOTALL)
SENTENCE = re.compile(r"\w+ \w+ \w+")  # shorter strings are names

# text keeps its newlines, so that hits have line numbers
Text = collections.namedtuple("Text", "kind line text")


def is_public_header(path):
    return any(fnmatch.fnmatch(path, pattern) for pattern in PUBLIC_HEADERS)


def words_of(token):
    """Returns the text of a comment or string literal without its delimiters."""
    if token.startswith("R"):
        return token[token.index("(") + 1:token.rindex(")")]
    if token.startswith('"'):
        return re.sub(r"\\[nt]", " ", token[1:-1])
    return re.sub(r"(?m)^\s*(?://+[/!<]*|/?\*+/?)|\*/$", " ", token)


def cpp_texts(path, source):
    """Yields comments and strings; neighbours that only whitespace separates are one text."""
    comment_kind = "header" if is_public_header(path) else "comment"
    kind, line, end, parts = None, 0, 0, []
    for match in CPP_TOKEN.finditer(source):
        token = match.group()
        if token[0] == "'":
            continue
        own_kind = comment_kind if token[0] == "/" else "string"
        gap = source[end:match.start()]
        if own_kind != kind or gap.strip():
            if parts:
                yield Text(kind, line, "".join(parts))
            kind, line, parts, gap = own_kind, source.count("\n", 0, match.start()) + 1, [], ""
        end = match.end()
        parts.append("\n" * gap.count("\n") + words_of(token))
    if parts:
        yield Text(kind, line, "".join(parts))


def python_texts(source):
    """Yields comments, and strings with docstrings among them."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Text("comment", token.start[0], token.string)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield Text("string", node.lineno, node.value)


def markdown_texts(source):
    """Yields the paragraphs, without code, link targets and tables of contents."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())  # noqa: E731
    for code in (r"(?ms)^ *```.*?^ *```", r"``.*?``|`[^`]*`", r"\]\([^)\s]*\)", r"<!--.*?-->"):
        source = re.sub(code, blank, source)
    line = 1
    for paragraph in re.split(r"(\n\s*\n)", source):
        yield Text("docs", line, paragraph)
        line += paragraph.count("\n")


def texts_of(path, source):
    if path.endswith(".md"):
        return markdown_texts(source)
    if path.endswith(CPP):
        return cpp_texts(path, source)
    return python_texts(source)


def read_table(path):
    if not path.exists():
        return []
    lines = path.read_text().splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def project_files(root):
    """Returns the files to check: what git tracks or could add, or everything outside a repository."""
    listed = shutil.which("git") and subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root,
                                                    capture_output=True, text=True, check=False)
    names = listed.stdout.split("\n") if listed and listed.returncode == 0 else [p.relative_to(root).as_posix() for p in root.rglob("*")]
    for name in sorted(names):
        source = name.startswith(tuple(f"{folder}/" for folder in SOURCES)) and name.endswith((*CPP, ".py"))
        page = name.endswith(".md") and (name.startswith(("docs/", ".github/")) or "/" not in name)
        if (source or page) and (root / name).is_file():
            yield name


def folder_of(path):
    """Returns at most two levels: "runtime/cuda", "docs/guide", "." for files of the root."""
    return "/".join(pathlib.PurePosixPath(path).parent.parts[:2]) or "."


Hit = collections.namedtuple("Hit", "kind folder path line phrase advice")


def hits_of(root, exceptions):
    for path in project_files(root):
        allowed = [re.compile(phrase, re.IGNORECASE) for pattern, phrase, _ in exceptions if fnmatch.fnmatch(path, pattern)]
        for kind, line, text in texts_of(path, (root / path).read_text(encoding="utf-8", errors="replace")):
            if kind == "string" and not SENTENCE.search(text):
                continue
            lines = re.sub(r"[ \t]*\n[ \t]*", lambda match: "\n" * match.group().count("\n"), text)
            flat = lines.replace("\n", " ")
            for match in (COMMENT_PATTERN if kind in ("comment", "header") else PATTERN).finditer(flat):
                around = re.sub(" +", " ", flat[max(0, match.start() - 30):match.end() + 30]).strip()
                if not any(exception.search(around) for exception in allowed):
                    at = line + lines[:match.start()].count("\n")
                    yield Hit(kind, folder_of(path), path, at, around, ADVICE[int(match.lastgroup[1:])])


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--list", nargs="*", metavar="FOLDER")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    tables = arguments.root / "tools" / "lint"
    hits = list(hits_of(arguments.root, read_table(tables / "prose-exceptions.tsv")))
    counts = collections.Counter((hit.kind, hit.folder) for hit in hits)
    if arguments.list is not None:
        for hit in hits:
            if not arguments.list or hit.path.startswith(tuple(arguments.list)):
                print(f"{hit.path}:{hit.line}: {hit.kind}: \"{hit.phrase}\"; write: {hit.advice}")
        return 0
    if arguments.update:
        rows = "".join(f"{kind}\t{folder}\t{count}\n" for (kind, folder), count in sorted(counts.items()))
        (tables / "prose-counts.tsv").write_text("# Written by prose.py --update: kind, folder, hits allowed. Counts may only fall.\n" + rows)
        return 0
    allowed = {(kind, folder): int(count) for kind, folder, count in read_table(tables / "prose-counts.tsv")}
    worse = {key for key, count in counts.items() if count > allowed.get(key, 0)}
    for hit in hits:
        if (hit.kind, hit.folder) in worse:
            print(f"{hit.path}:{hit.line}: {hit.kind}: \"{hit.phrase}\"; write: {hit.advice}")
    for kind, folder in sorted(worse):
        print(f"{kind} of {folder}: {counts[kind, folder]} hits, {allowed.get((kind, folder), 0)} allowed; rewrite the new ones")
    better = sum(allowed.values()) - sum(counts[key] for key in allowed)
    if not worse and better:
        print(f"{better} hits fewer than recorded: run tools/lint/prose.py --update and commit the result")
    print(f"{len(hits)} hits: " + ", ".join(f"{kind} {sum(hit.kind == kind for hit in hits)}"
                                            for kind in ("string", "header", "docs", "comment")))
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
