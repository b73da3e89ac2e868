#!/usr/bin/env python3
"""Checks that every relative link in the README and in docs/ leads to a file of the project."""
import pathlib
import re
import sys


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    broken = []
    for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(root)}: {target}")
    print("\n".join(broken) or "all links lead somewhere")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
