#!/usr/bin/env python3
"""Ranks that make no progress report rank, step, seconds and stack, once, and go on.

    watchdog_test.py PROGRAM
"""
import os
import re
import subprocess
import sys

PROGRAM = sys.argv[1]


def run(seconds, limit=None):
    """Returns exit code and stderr of two ranks, of which one works for some seconds."""
    environment = {**os.environ, **({"SPTILE_TEST_WATCHDOG": limit} if limit else {})}
    done = subprocess.run([PROGRAM, str(seconds)], env=environment, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


def stack_of(rank, step, said):
    """Returns the lines of the only report of a rank."""
    reports = re.findall(rf"(?m)^rank {rank}: no progress for 1\.?\d* s in step: (.*); stack:\n((?:  .+\n)+)", said)
    assert [one[0] for one in reports] == [step], said
    return reports[0][1]


code, said = run(4, limit="1")
assert code == 0, (code, said)
assert "sptile::test::work_slowly(double)" in stack_of(1, "slow work", said), said
waiting = stack_of(0, "wait for the other rank", said)
assert re.search(r"hanging\+0x[0-9a-f]+", waiting) and "work_slowly" not in waiting, said
assert len(re.findall("no progress", said)) == 2, said
print(said, end="")

code, said = run(0)
assert (code, said) == (0, ""), (code, said)
for wrong in ("x", "0", "-1", "nan", "1s"):
    code, said = run(0, limit=wrong)
    assert code != 0 and f"SPTILE_TEST_WATCHDOG={wrong}; expected seconds" in said, (code, said)
