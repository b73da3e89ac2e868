"""Checks that docs/reference/kernel-properties.md ends with what the property runner prints.

    support_test.py PROGRAM PAGE [--update]
"""
import pathlib
import subprocess
import sys

program, page = sys.argv[1], pathlib.Path(sys.argv[2])
printed = subprocess.run([program, "support", "--backend", "emulated"], check=True, capture_output=True, text=True).stdout
text = page.read_text()
begin = text.index("| kernel |")
if "--update" in sys.argv:
    page.write_text(text[:begin] + printed)
elif text[begin:] != printed:
    sys.exit(f"{page} is out of date; run this program with --update")
