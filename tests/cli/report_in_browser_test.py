#!/usr/bin/env python3
"""Looks at pages of `sptile report` in a real browser: nothing overflows to the side on a phone, a tablet and a screen,
every picture is there, screenshots have their size, and the print has pages. Needs chromium (Debian's package); without
it the test ends with 77."""
import html
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

WIDTHS = (360, 800, 1400)
# Written into a copy of the page, which itself allows no script: what sticks out to the right, and broken pictures.
PROBE = """<script>addEventListener("load", () => {
  const wide = document.documentElement.clientWidth;
  const out = [...document.body.querySelectorAll("*")].filter(e => e.getBoundingClientRect().right > wide + 0.5);
  const flat = [...document.querySelectorAll("svg, image")].filter(e => e.getBoundingClientRect().height < 10);
  parent.postMessage([wide, document.documentElement.scrollWidth, out.length, flat.length,
                      out.length ? out[0].tagName + " " + out[0].textContent.slice(0, 40) : ""], "*");
})</script>"""


def browse(chromium, folder, *arguments):
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
               "--disable-background-networking", f"--user-data-dir={folder}/profile", *arguments]
    return subprocess.run(command, check=True, capture_output=True, timeout=120).stdout.decode(errors="replace")


def layout(chromium, folder, page):
    """[(width, scroll width, elements that stick out, flat pictures, the first that sticks out)] for each of WIDTHS."""
    open_page = re.sub(r"<meta http-equiv=[^>]*>", "", page).replace("</body>", PROBE + "</body>")
    frames = "".join(f'<iframe style="width:{w}px;height:900px;border:0" srcdoc="{html.escape(open_page)}"></iframe>'
                     for w in WIDTHS)
    probe = folder / "probe.html"
    probe.write_text(f"""<body><script>addEventListener("message", e => {{
        const line = document.createElement("pre"); line.textContent = "PROBE " + e.data.join("|");
        document.body.append(line); }})</script>{frames}</body>""")
    dom = browse(chromium, folder, "--virtual-time-budget=20000", "--dump-dom", probe.as_uri())
    found = [line.split("|") for line in re.findall(r"<pre>PROBE ([^<]*)</pre>", dom)]
    return sorted((*map(int, row[:4]), row[4]) for row in found)


def png_size(path):
    return struct.unpack(">II", path.read_bytes()[16:24])


def check(chromium, folder, name, page):
    wrong = []
    rows = layout(chromium, folder, page.read_text())
    if [row[0] for row in rows] != list(WIDTHS):
        wrong.append(f"laid out {[row[0] for row in rows]} pixels wide, not {WIDTHS}")
    for width, scroll, out, flat, first in rows:
        if scroll > width or out:
            wrong.append(f"at {width} pixels {out} elements stick out, {scroll} pixels wide; first {html.unescape(first)}")
        if flat:
            wrong.append(f"at {width} pixels {flat} pictures are flat")
    shot, pdf = folder / "shot.png", folder / "print.pdf"
    browse(chromium, folder, "--window-size=800,1000", f"--screenshot={shot}", page.as_uri())
    if png_size(shot) != (800, 1000):
        wrong.append(f"screenshot of {png_size(shot)}")
    browse(chromium, folder, f"--print-to-pdf={pdf}", page.as_uri())
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes()))
    if pages < 1:
        wrong.append("the print has no pages")
    print(f"{'FAILED' if wrong else 'ok    '} {name}: {pages} pages in print", *wrong, sep="\n    ")
    return bool(wrong)


def main():
    sptile, root = map(pathlib.Path, sys.argv[1:3])
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("SKIPPED: no chromium, so no page of sptile report was looked at in a browser; to look: apt-get install chromium",
              file=sys.stderr)
        sys.exit(77)
    failed = 0
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        long_name = folder / ("a_name_without_any_space_" * 6 + ".mtx")
        shutil.copy(root / "data/examples/fem_plate.mtx", long_name)
        wide, web, layer = folder / "wide.mtx", folder / "web.mtx", folder / "layer.mtx"
        for matrix, how in ((wide, "random --rows 30 --cols 90000 --nnz 40000"), (web, "rmat --scale 12 --edges 40000"),
                            (layer, "random --rows 512 --cols 2048 --nnz 100000")):
            subprocess.run([sptile, "gen", *how.split(), "-o", matrix, "-q"], check=True)
        for matrix, extra in ((long_name, ["--measure", "--reorder", "all"]), (wide, []), (web, []), (layer, []),
                              (root / "data/examples/us_states.mtx", ["--device", "cpu"])):
            page = folder / "report.html"
            subprocess.run([sptile, "report", matrix, "-o", page, "-n", "16", "-q", "--force", *extra], check=True)
            failed += check(chromium, folder, matrix.name[:30], page)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
