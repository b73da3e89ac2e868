#!/usr/bin/env python3
"""Checks the built site in a browser, from the disk: the first results of the search, and the layout of pages.

    site_test.py SITE

SITE is the directory that tools/site.sh wrote. Exits with 77 if Chromium is not installed.
"""
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

WIDTHS = (400, 1200)
# What a reader types, and the page that must be the first result.
FIRST_RESULTS = {
    "install": "guide/install.html",
    "how fast": "results/index.html",
    "API reference": "reference/index.html",
    "cuSPARSE": "guide/migrate.html",
    "glossary": "reference/glossary.html",
}
PAGES = ("index.html", "guide/index.html", "guide/install.html", "guide/choose-a-format.html", "guide/report.html",
         "reference/index.html", "reference/commands.html", "reference/c.html", "reference/formats/bundle.html", "results/index.html", "results/h200.html")
RESULTS = """(async () => {
  const query = document.querySelector("[data-md-component=search-query]");
  const links = () => [...document.querySelectorAll(".md-search-result__link")].map(link => link.getAttribute("href"));
  const type = async (text, ready) => {
    query.focus();
    query.value = text;
    query.dispatchEvent(new Event("keyup", {bubbles: true}));
    for (let i = 0; i < 200 && !ready(); ++i) await new Promise(done => setTimeout(done, 25));
  };
  await type("", () => links().length === 0);
  await type(QUERY, () => links().length > 0);
  return links().slice(0, 3).map(link => link.split("?")[0].split("#")[0]);
})()"""
LAYOUT = """new Promise(done => requestAnimationFrame(() => done(
  [document.documentElement.scrollWidth, document.documentElement.clientWidth,
   [...document.querySelectorAll("article img")].filter(image => image.complete && image.naturalWidth === 0).length,
   [...document.querySelectorAll("article img")].filter(image => image.naturalWidth > 600 && image.width < 600).length,
   [...document.querySelectorAll(".option")].filter(option => option.getClientRects().length > 1).length])))"""


class Browser:
    """Chromium, driven by the DevTools protocol over pipes."""

    def __init__(self, chromium, profile):
        read_commands, self._commands = os.pipe()
        self._answers, write_answers = os.pipe()
        self._process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{read_commands} 4>&{write_answers}', "sh", chromium, "--headless", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe", f"--user-data-dir={profile}"],
            pass_fds=(read_commands, write_answers), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        os.close(read_commands)
        os.close(write_answers)
        self._buffer, self._ids, self._session = b"", itertools.count(1), None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")

    def _messages(self):
        while True:
            while b"\0" not in self._buffer:
                self._buffer += os.read(self._answers, 1 << 16)
            message, self._buffer = self._buffer.split(b"\0", 1)
            yield json.loads(message)

    def call(self, method, **parameters):
        number = next(self._ids)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        answer = next(m for m in self._messages() if m.get("id") == number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def open(self, page, width):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self.call("Page.navigate", url=page.as_uri())
        next(m for m in self._messages() if m.get("method") == "Page.loadEventFired")

    def value(self, expression):
        return self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)["result"]["value"]

    def close(self):
        self._process.terminate()
        self._process.wait()


def problems(browser, site):
    for width in WIDTHS:
        browser.open(site / "index.html", width)
        if width >= 1200 and not browser.value("document.querySelector('.md-tabs').offsetHeight > 0"):
            yield f"{width} pixels: the menu is hidden"
        for query, expected in FIRST_RESULTS.items():
            found = browser.value(RESULTS.replace("QUERY", json.dumps(query)))
            first = [link.removeprefix(site.as_uri() + "/") for link in found]
            if first[:1] != [expected]:
                yield f"{width} pixels: the search for '{query}' finds {first}, expected {expected} first"
        for page in PAGES:
            browser.open(site / page, width)
            scroll, client, broken, small, split = browser.value(LAYOUT)
            if scroll > client:
                yield f"{width} pixels: {page} is {scroll} pixels wide"
            if broken:
                yield f"{width} pixels: {page} has {broken} pictures that do not load"
            if small:
                yield f"{width} pixels: {page} has {small} charts too small to read"
            if split:
                yield f"{width} pixels: {page} has {split} options with a line break"


def main():
    site = pathlib.Path(sys.argv[1]).resolve()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        print("SKIPPED: Chromium is not installed, so the site was not opened in a browser", file=sys.stderr)
        sys.exit(77)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(chromium, profile)
        try:
            found = list(problems(browser, site))
        finally:
            browser.close()
    print("\n".join(found) or f"{len(FIRST_RESULTS)} searches and {len(PAGES)} pages at {WIDTHS} pixels are as expected")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
