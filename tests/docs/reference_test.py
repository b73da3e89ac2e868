#!/usr/bin/env python3
"""Checks that the generated reference of C and C++ has every function and type of the headers, with a text.

    reference_test.py ROOT
"""
import pathlib
import re
import subprocess
import sys

HEADERS = ("runtime/include/sptile.h", "tools/capi/sptile_tools.h", "runtime/include/sptile.hpp")
# Members whose name and type say what they return.
PLAIN_MEMBERS = re.compile(r"\w+::(rows|cols|n|nnz|id|rank|parts|entries|symmetric|needed|old_ids|halo_ids|\w+_offset|send_rows|Part)$")


def entries(root, header):
    """Returns the text of each entry of the reference of a header."""
    page = subprocess.run([sys.executable, root / "tools/site/headers.py", "Reference", root / header],
                          check=True, capture_output=True, text=True).stdout
    parts = re.split(r"^##+ `([^`]+)`$", page, flags=re.MULTILINE)
    return {name: text.split("```")[0].strip() for name, text in zip(parts[1::2], parts[2::2])}


def main():
    root, wrong, count = pathlib.Path(sys.argv[1]), [], 0
    for header in HEADERS:
        code = re.sub(r"/\*.*?\*/|//[^\n]*", "", (root / header).read_text(), flags=re.DOTALL)
        found = entries(root, header)
        wanted = set(re.findall(r"^(?:struct|class|enum class) (\w+)(?= [:{])", code.split("namespace detail")[0], re.MULTILINE)
                     if header.endswith("hpp") else re.findall(r"^[\w* ]+?\b(sptile_\w+)\(|^\} (sptile_\w+);", code, re.MULTILINE))
        wanted = {"".join(name) for name in wanted}
        count += len(found)
        wrong += [f"{header}: {name} is missing" for name in sorted(wanted - found.keys())]
        wrong += [f"{header}: {name} has no text" for name, text in found.items()
                  if not text and not PLAIN_MEMBERS.match(name) and not name.startswith("SPTILE_") and name != "Device"]
        assert len(wanted) > 5, header
    print("\n".join(wrong) or f"{count} entries of the reference are complete")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
