"""Hooks of MkDocs: which pages there are, in which order; the README stands beside them, and what the site has no page
of is named, not linked."""

import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")

# Folders are all their pages, a README first.
ORDER = {
    "Start": "index.md",
    "Install": "how-to/install.md",
    "How to": "how-to",
    "Python": "python",
    "Formats": "formats",
    "Orderings": "reorder",
    "Results": "results",
    "Decisions": "decisions",
    "Architecture": "architecture.md",
    "Contributing": "contributing.md",
    "Security": "security.md",
    "Changelog": "changelog.md",
}


def on_config(config):
    """Makes the menu of ORDER from the pages that are there."""
    pages = Path(config["docs_dir"])
    config["nav"] = []
    for title, name in ORDER.items():
        if not (pages / name).is_dir():
            config["nav"].append({title: name})
            continue
        below = sorted((pages / name).glob("*.md"), key=lambda page: (page.name != "README.md", page.name))
        config["nav"].append({title: [page.relative_to(pages).as_posix() for page in below if page != pages / ORDER["Install"]]})
    return config


def on_page_markdown(markdown, page, files, **_):
    """Rewrites the links of a page: into docs/ those of the README; a source file or a folder is its text alone."""
    of_readme = page.file.src_uri == "index.md"

    def rewrite(match):
        text, target = match.groups()
        if "://" in target or target.startswith("#"):
            return match.group(0)
        path, _, anchor = target.partition("#")
        at = "" if of_readme else posixpath.join("docs", posixpath.dirname(page.file.src_uri))
        source = posixpath.normpath(posixpath.join(at, path))  # from the root of the project
        if not (ROOT / source).exists():
            return match.group(0)  # MkDocs says so, and fails
        uri = "index.md" if source == "README.md" else source.removeprefix("docs/")
        shown = files.get_file_from_path(uri)
        if shown is None or shown.inclusion.is_excluded() or not (source == "README.md" or source.startswith("docs/")):
            return text
        relative = posixpath.relpath(uri, posixpath.dirname(page.file.src_uri))
        return f"[{text}]({relative}{'#' + anchor if anchor else ''})"

    # The marks of a fence (```sh gpu) are for the tests: superfences does not know them.
    markdown = re.sub(r"^(```\w+) [^\n]*$", r"\1", markdown, flags=re.MULTILINE)
    # What stands in fences is shown as it is.
    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    markdown = "".join(part if part.startswith("```") else LINK.sub(rewrite, part) for part in parts)
    return markdown.replace("](docs/", "](") if of_readme else markdown  # pictures
