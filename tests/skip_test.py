#!/usr/bin/env python3
"""Checks that a test that lacks what it needs ends with 77 and says what, and that one that checks nothing fails:
skip_test.py COLLECTION_TEST VACUOUS_CASE RUN_CASES."""
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77


def check(what, done, text, code=SKIPPED):
    if done.returncode != code or text not in done.stdout + done.stderr:
        sys.exit(f"{what} ended with {done.returncode}, expected {code} and '{text}':\n{done.stdout}{done.stderr}")


def main():
    collection_test, vacuous_case, run_cases = sys.argv[1:]
    done = subprocess.run([vacuous_case], capture_output=True, text=True)
    check("a binary that checks nothing", done, "NOTHING CHECKED: every element of nothing", code=1)
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "project"
        root.mkdir()
        environment = dict(os.environ, SPTILE_SOURCE_ROOT=str(root))
        done = subprocess.run([collection_test], env=environment, capture_output=True, text=True)
        check("a binary without its files", done, "SKIPPED: ")
        (root / "needy.sh").write_text("echo nothing is here >&2; exit 77\n")
        (root / "modest.sh").write_text("true\n")
        done = subprocess.run([sys.executable, run_cases, "/bin/true", root, root], capture_output=True, text=True)
        check("a folder with a case that is skipped", done, "SKIPPED needy: nothing is here")
        (root / "modest.exit").write_text("1\n")
        done = subprocess.run([sys.executable, run_cases, "/bin/true", root, root], capture_output=True, text=True)
        if done.returncode != 1:
            sys.exit("a case that fails is hidden by one that is skipped")


if __name__ == "__main__":
    main()
