#!/usr/bin/env python3
"""Checks that every relative link in the README and in docs/ leads to a file of the project, and to a heading of it."""
import pathlib
import re
import sys


def anchors(page):
    """What follows # in links to the headings of a page, as GitHub makes it."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    broken, links = [], 0
    for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", page.read_text()):
            if "://" in target:
                continue
            links += 1
            file = page.parent / target if target else page
            if not file.exists() or (anchor and anchor not in anchors(file)):
                broken.append(f"{page.relative_to(root)}: {target}{'#' + anchor if anchor else ''}")
    assert links > 0, "no page has a link: wrong root?"
    print("\n".join(broken) or f"all {links} links lead somewhere")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
