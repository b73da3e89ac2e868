#!/usr/bin/env python3
"""What the command looks like on terminals of several widths: nothing is wider, colours and progress are there, and in
pipes they are not."""
import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

WIDTHS = [60, 80, 200]
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def on_terminal(words, width, folder, keep=("stdout", "stderr"), feed=None, **variables):
    """What a command writes to a terminal of `width` columns, its exit code. `keep`: the streams that are that terminal."""
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    env = {k: v for k, v in os.environ.items() if not k.startswith(("SPTILE_", "NO_COLOR", "CLICOLOR"))}
    env.update(TERM="xterm", XDG_CONFIG_HOME=folder, **variables)
    streams = {name: other if name in keep else subprocess.DEVNULL for name in ("stdout", "stderr")}
    run = subprocess.Popen(words, cwd=folder, env=env, stdin=subprocess.PIPE, **streams)
    os.close(other)
    if feed:
        feed(run.stdin)
    run.stdin.close()
    seen = b""
    try:
        while chunk := os.read(main, 1 << 16):
            seen += chunk
    except OSError:
        pass  # the other end is closed
    os.close(main)
    return seen.decode().replace("\r\n", "\n"), run.wait()


class Checks:
    def __init__(self):
        self.failed = 0

    def expect(self, condition, *what):
        if not condition:
            self.failed += 1
            print(*what)


def lines_too_wide(text, width):
    return [line for line in COLOUR.sub("", text).split("\n") if len(line) > width]


def main():
    sptile = os.path.realpath(sys.argv[1])
    matrix = pathlib.Path(sys.argv[2]).resolve() / "data/examples/us_states.mtx"
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "a.mtx").write_bytes(matrix.read_bytes())
        subprocess.run([sptile, "convert", "a.mtx", "a.h5", "-q"], cwd=folder, check=True)
        helps, _ = on_terminal([sptile, "help"], 80, folder, NO_COLOR="1")
        verbs = re.findall(r"^  (\w+)", helps.split("Verbs:")[1], flags=re.MULTILINE)
        checks.expect(len(verbs) >= 14, "verbs", verbs)
        shown = [["help"], [], ["gen", "rmat", "--help"], ["a.mtx"], ["list"], ["list", "kernels", "bmat"], ["stats", "a.mtx"],
                 ["info", "a.h5"], ["verify", "a.h5"], ["run", "a.h5", "--explain", "--repeat", "1"],
                 ["bench", "a.mtx", "-n", "8", "--format", "csr,hc_window", "--repeat", "1", "--quiet"]]
        shown += [[verb, "--help"] for verb in verbs]
        for width in WIDTHS:
            used = {}
            for words in shown:
                text, _ = on_terminal([sptile, *words], width, folder)
                wide = lines_too_wide(text, width)
                checks.expect(not wide, f"{words} on {width} columns:", *wide)
                checks.expect(text, words, "says nothing")
                used[tuple(words)] = max(map(len, COLOUR.sub("", text).split("\n")))
            checks.expect(used[("convert", "--help")] > 0.7 * min(width, 150), f"{width} columns are not used:", used)

        # Headings, errors and marks have colours on a terminal, and nowhere else.
        for words in (["--help"], ["list", "formats"], ["verify", "a.h5"], ["info", "nowhere.h5"]):
            for variables, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
                text, _ = on_terminal([sptile, *words], 80, folder, **variables) if "TERM" not in variables else \
                    on_terminal(["env", "TERM=dumb", sptile, *words], 80, folder)
                checks.expect(bool(COLOUR.search(text)) == coloured, f"{words} with {variables}: {text!r}")
        text, _ = on_terminal([sptile, "verify", "a.h5"], 80, folder, keep=("stderr",))
        checks.expect(text == "", f"beside a pipe: {text!r}")

        # Without a terminal: help has 80 columns, lists a line for each row, however long.
        piped = subprocess.run([sptile, "convert", "--help"], capture_output=True, text=True, check=True).stdout
        checks.expect(not lines_too_wide(piped, 80), "help in a pipe is wider than 80 columns")
        rows = subprocess.run([sptile, "list", "kernels"], capture_output=True, text=True, check=True).stdout.splitlines()
        checks.expect(all(re.match(r"(kernel|cpu\.|cuda\.)", row) for row in rows), "a kernel takes more than a line in a pipe")

        # Progress of what takes a while, on any terminal: it fits, and says how far it is.
        slow = {"gen": ["gen", "rmat", "--scale", "18", "--edges", "3000000", "--threads", "1", "-o", "big.mtx", "--force"],
                "run": ["run", "a.h5", "-n", "512", "--format", "csr", "--repeat", "200000", "--threads", "1"]}
        for name, words in slow.items():
            for width in WIDTHS:
                text, code = on_terminal([sptile, *words], width, folder, keep=("stderr",))
                painted = [line for line in text.split("\r\x1b[K") if line]
                checks.expect(code == 0 and painted, f"{name} on {width} columns paints nothing: {text!r}, exit code {code}")
                checks.expect(not any(len(line) >= width for line in painted), f"{name} is cut off on {width} columns:", painted)
                checks.expect(any(re.fullmatch(r"(generate|values|run|write|check) +\[=* *\] +\d+%.*", line) for line in painted),
                              f"{name} on {width} columns has no bar:", painted)
                checks.expect(text.endswith("\r\x1b[K"), f"{name} leaves its bar behind")
    sys.exit(1 if checks.failed else 0)


if __name__ == "__main__":
    main()
