#!/usr/bin/env python3
"""Runs clang-tidy over sources, except those that passed before in the same state.

    tidy.py BUILD [ARGUMENT]... < NAMES

The state of a source consists of its compile command, the arguments, .clang-tidy, the installed packages and the contents
of the source and of all files of the project that it includes. Passed states are in $XDG_CACHE_HOME/sptile-tidy.
"""
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

KEPT_DAYS = 30
INCLUDE = re.compile(rb'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


@functools.cache
def contents(path):
    """The digest of a file and the names that it includes in quotes."""
    data = pathlib.Path(path).read_bytes()
    return hashlib.sha256(data).hexdigest(), [name.decode() for name in INCLUDE.findall(data)]


@functools.cache
def found(name, folders):
    return next((path for folder in folders if os.path.isfile(path := os.path.normpath(os.path.join(folder, name)))), None)


def files_of(source, folders):
    """The source and what it includes, directly or not. Conditions are ignored: too many files cost only a run."""
    seen, todo = set(), [source]
    while todo:
        path = todo.pop()
        if path not in seen:
            seen.add(path)
            todo += filter(None, (found(name, (os.path.dirname(path), *folders)) for name in contents(path)[1]))
    return sorted(seen)


def state_of(entry, common):
    folder = entry["directory"]
    paths = re.findall(r"-I(\S+)", entry["command"])
    folders = tuple(os.path.normpath(os.path.join(folder, path)) for path in paths)
    source = os.path.normpath(os.path.join(folder, entry["file"]))
    digests = [(path, contents(path)[0]) for path in files_of(source, folders)]
    return hashlib.sha256(json.dumps([common, entry["command"], digests]).encode()).hexdigest()


def main():
    build, arguments = sys.argv[1], sys.argv[2:]
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "sptile-tidy"
    cache.mkdir(parents=True, exist_ok=True)
    for old in cache.iterdir():
        if old.stat().st_mtime < time.time() - KEPT_DAYS * 86400:
            old.unlink()
    packages = subprocess.run(["dpkg-query", "-W"], capture_output=True, text=True).stdout
    common = [arguments, pathlib.Path(".clang-tidy").read_text(), packages]
    entries = {os.path.normpath(os.path.join(e["directory"], e["file"])): e
               for e in json.loads(pathlib.Path(build, "compile_commands.json").read_text())}

    def passes(name):
        stamp = cache / state_of(entries[os.path.normpath(name)], common)
        if stamp.exists():
            stamp.touch()
            return True
        done = subprocess.run(["clang-tidy-14", "-p", build, "--quiet", *arguments, name], capture_output=True, text=True)
        sys.stderr.write(done.stdout + re.sub(r".* warnings? generated\.\n", "", done.stderr))
        if done.returncode == 0 and not done.stdout:
            stamp.touch()
        return done.returncode == 0

    names = sys.stdin.read().split()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        passed = list(pool.map(passes, names))
    sys.exit(0 if passed and all(passed) else 1)


if __name__ == "__main__":
    main()
