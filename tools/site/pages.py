"""Hooks of MkDocs: the menu, links into the sources, and which pages the search covers."""

import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r"<code>[^<]*</code>")
OPTION = re.compile(r"(?<![\w-])(--?[A-Za-z][^\s<]*)")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")

# The menu, by audience. A title with "folder/" shows all pages of that folder, a README first.
MENU = [
    {"Home": "index.md"},
    {
        "Guide": [
            "guide/README.md",
            {"Start": ["guide/install.md", "guide/first-product.md", "guide/migrate.md"]},
            {
                "Python": [
                    "guide/python.md",
                    "guide/scipy.md",
                    "guide/pytorch.md",
                    "guide/pyg.md",
                    "guide/batches.md",
                    "guide/cuda-graphs.md",
                ]
            },
            {"C and C++": ["guide/cpp.md", "guide/sddmm.md", "guide/graph-layers.md", "guide/convert-in-c.md"]},
            {
                "Performance": [
                    "guide/choose-a-format.md",
                    "guide/choose-an-ordering.md",
                    "guide/report.md",
                    "guide/benchmark.md",
                    "guide/calibrate.md",
                    "guide/doctor.md",
                ]
            },
            {"Several GPUs": ["guide/several-gpus.md", "guide/distributed.md", "guide/mpi.md"]},
        ]
    },
    {
        "Reference": [
            "reference/README.md",
            "reference/python.md",
            "reference/commands.md",
            "reference/c.md",
            "reference/cpp.md",
            "reference/runtime.md",
            "reference/matrix-input.md",
            "reference/files.md",
            {"Formats": "reference/formats/"},
            {"Orderings": "reference/orderings/"},
            "reference/kernel-properties.md",
            "reference/glossary.md",
        ]
    },
    {"Results": "results/"},
    {"Design": ["design/README.md", "design/architecture.md", {"Extend sptile": "design/add-"}, {"Decisions": "design/decisions/"}]},
    {"Project": ["changelog.md", "contributing.md", "security.md"]},
]
# Pages that site.sh generates, and the sources that pages link to in their place.
GENERATED = {
    "reference/commands.md": ("tools/commands",),
    "reference/c.md": ("runtime/include/sptile.h", "tools/capi/sptile_tools.h"),
    "reference/cpp.md": ("runtime/include/sptile.hpp",),
}
UNSEARCHED = ("design/decisions/", "changelog.md")
# Pages that should be found before others with the same words.
BOOST = {"guide/install.md": 4, "results/README.md": 4, "reference/README.md": 2, "guide/migrate.md": 2}


def _menu(item, pages):
    """Returns an item of the menu with the pages of folders and without generated pages that do not exist."""
    if isinstance(item, str):
        return item if (pages / item).exists() or item not in GENERATED else None
    if isinstance(item, list):
        return [shown for shown in (_menu(part, pages) for part in item) if shown is not None]
    ((title, below),) = item.items()
    if isinstance(below, str) and not below.endswith(".md"):
        found = sorted(pages.glob(below + "*.md"), key=lambda page: (page.name != "README.md", page.name))
        below = [page.relative_to(pages).as_posix() for page in found]
    return {title: _menu(below, pages)}


def on_config(config):
    """Sets the menu."""
    config["nav"] = _menu(MENU, Path(config["docs_dir"]))
    return config


def _page_of(source, files):
    """Returns the page of the site for a file of the project; None if it has none."""
    for page, origins in GENERATED.items():
        if source in origins:
            return files.get_file_from_path(page)
    if source == "README.md":
        return files.get_file_from_path("index.md")
    shown = files.get_file_from_path(source.removeprefix("docs/")) if source.startswith("docs/") else None
    return None if shown is None or shown.inclusion.is_excluded() else shown


def on_page_markdown(markdown, page, files, **_):
    """Adapts the links and fences of a page, and excludes it from the search if it is listed."""
    of_readme = page.file.src_uri == "index.md"
    if page.file.src_uri.startswith(UNSEARCHED):
        page.meta["search"] = {"exclude": True}
    elif boost := BOOST.get(page.file.src_uri):
        page.meta["search"] = {"boost": boost}

    def rewrite(match):
        text, target = match.groups()
        if "://" in target or target.startswith("#"):
            return match.group(0)
        path, _, anchor = target.partition("#")
        folder = "" if of_readme else posixpath.join("docs", posixpath.dirname(page.file.src_uri))
        source = posixpath.normpath(posixpath.join(folder, path))  # relative to the root of the project
        if not (ROOT / source).exists():
            return match.group(0)  # MkDocs reports it
        shown = _page_of(source, files)
        if shown is None:
            return text
        relative = posixpath.relpath(shown.src_uri, posixpath.dirname(page.file.src_uri))
        return f"[{text}]({relative}{'#' + anchor if anchor else ''})"

    # Marks of fences (```sh gpu) are for the tests. The text of fences stays as it is.
    markdown = re.sub(r"^(```\w+) [^\n]*$", r"\1", markdown, flags=re.MULTILINE)
    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    markdown = "".join(part if part.startswith("```") else LINK.sub(rewrite, part) for part in parts)
    return markdown.replace("](docs/", "](") if of_readme else markdown  # pictures


def on_page_content(html, **_):
    """Marks options such as --json in the text, in which browsers would break lines after hyphens."""
    parts = re.split(r"(<pre.*?</pre>)", html, flags=re.DOTALL)
    parts[::2] = [CODE.sub(lambda code: OPTION.sub(r'<span class="option">\1</span>', code[0]), part) for part in parts[::2]]
    return "".join(parts)


def on_post_build(config):
    """Replaces the script that the offline plugin would load from a network."""
    site = Path(config["site_dir"])
    (site / "assets" / "offline_worker.js").write_text((ROOT / "tools/site/offline_worker.js").read_text())
    for page in site.rglob("*.html"):
        local = posixpath.relpath("assets/offline_worker.js", page.parent.relative_to(site).as_posix())
        html, count = re.subn(r'(<script src=")https://[^"]*/iframe-worker/shim"', rf'\g<1>{local}"', page.read_text())
        if count != 1:
            raise SystemExit(f"{page}: {count} scripts of the offline plugin, expected 1")
        page.write_text(html)
