#!/usr/bin/env python3
"""Checks the form of the documentation: links, the length of lines, and the languages of fences.

    prose_test.py ROOT
"""
import pathlib
import re
import sys

import pages

LONGEST_LINE = 120
# No page of these is wrapped here: generated tables, and pages that others format.
UNWRAPPED = ("docs/results/", "docs/changelog.md", "docs/contributing.md", "docs/security.md")
LANGUAGES = {"sh", "python", "py", "pycon", "c", "cpp", "cmake", "text", "meson", "toml", "json"}


def anchors(page):
    """Returns the anchors of the headings of a page, as GitHub forms them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page, root):
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", page.read_text()):
        if "://" in target:
            continue
        file = page.parent / target if target else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            yield f"{page.relative_to(root)}: broken link {target}{'#' + anchor if anchor else ''}"


def long_lines(page, root):
    """Lines of tables cannot be wrapped."""
    name = page.relative_to(root).as_posix()
    if name.startswith(UNWRAPPED):
        return
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if len(line) > LONGEST_LINE and not line.startswith("|"):
            yield f"{name}:{number}: {len(line)} characters, at most {LONGEST_LINE}"


def wrong_fences(page, root):
    """A fence without a known language has no highlighting and is never run."""
    inside = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if not line.startswith("```"):
            continue
        inside = not inside
        language = line[3:].split(" ")[0]
        if inside and language not in LANGUAGES:
            yield f"{page.relative_to(root)}:{number}: fence of language '{language}', known are {sorted(LANGUAGES)}"
    if "<<<<<<< " in page.read_text():
        yield f"{page.relative_to(root)}: a merge conflict"


def wrong_list_paragraphs(page, root):
    """The renderer of the site indents a paragraph of a list item by four spaces; with fewer, it leaves the item."""
    text = re.sub(r"^```.*?^```", lambda block: "\n" * block[0].count("\n"), page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for match in re.finditer(r"\n\n {1,3}(?=\S)", text):
        yield f"{page.relative_to(root)}:{text.count(chr(10), 0, match.end()) + 1}: a paragraph indented by fewer than 4 spaces"


def wrong_decisions(page, root):
    """A decision fits on one page and has four parts."""
    if "/decisions/" not in page.as_posix():
        return
    text = page.read_text()
    if (lines := len(text.splitlines())) > 60:
        yield f"{page.relative_to(root)}: {lines} lines, at most 60"
    for part in ("Context", "Decision", "Consequences", "Rejected alternatives"):
        if f"**{part}" not in text:
            yield f"{page.relative_to(root)}: no part '{part}'"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    checks = (broken_links, long_lines, wrong_fences, wrong_list_paragraphs, wrong_decisions)
    found = [problem for page in pages.pages(root) for check in checks for problem in check(page, root)]
    if (lines := len((root / "README.md").read_text().splitlines())) > 120:
        found.append(f"README.md: {lines} lines, at most 120")
    assert len(pages.pages(root)) > 20, "few pages: wrong root?"
    print("\n".join(found) or f"{len(pages.pages(root))} pages are well formed")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
