#!/usr/bin/env python3
"""Checks that tools/lint/prose.py finds each kind of text, names its line, and lets counts fall but not rise.

    prose_test.py PROJECT_ROOT
"""
import pathlib
import subprocess
import sys
import tempfile

FILES = {
    "formats/a.cpp": '// A comment that stands behind\n// the code.\nconst char* kText = "this is no "\n  "matrix";\nconst char* kName = "beside";\n',
    "reorder/a.cpp": '// Where rows start.\nconst char* kText = "Where rows start";\n',
    "runtime/include/sptile.h": "/* First line.\n * What the caller is told.\n */\n",
    "tools/a.py": '"""Summary.\n\nA file is wanted here.\n"""\nx = 1  # nobody\n',
    "docs/guide/a.md": "Good text.\n\n```\nbeside\n```\n\n`beside` is code, and\na link [there](beside.md) too.\n\nThis one comes\nto nothing.\n",
    "data/a.md": "beside\n",
}
# In the order of the report: by file, then by position.
EXPECTED = ["docs/guide/a.md:10: docs", "formats/a.cpp:1: comment", "formats/a.cpp:3: string", "reorder/a.cpp:1: comment",
            "runtime/include/sptile.h:2: header", "tools/a.py:5: comment", "tools/a.py:3: string"]


def prose(script, root, *arguments):
    result = subprocess.run([sys.executable, script, "--root", root, *arguments], text=True, check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return result.returncode, result.stdout


def main():
    script = pathlib.Path(sys.argv[1]) / "tools" / "lint" / "prose.py"
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in FILES.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        tables = root / "tools" / "lint"
        tables.mkdir()
        code, output = prose(script, root, "--list")
        found = [": ".join(line.split(": ")[:2]) for line in output.splitlines()]
        assert (code, found) == (0, EXPECTED), output
        code, output = prose(script, root)
        assert code == 1 and "string of formats: 1 hits, 0 allowed" in output, output
        prose(script, root, "--update")
        code, output = prose(script, root)
        assert code == 0, output

        (root / "formats/b.cpp").write_text("// Nobody reads this.\n")
        code, output = prose(script, root)
        assert code == 1 and "comment of formats: 2 hits, 1 allowed" in output, output
        (tables / "prose-exceptions.tsv").write_text("formats/b.cpp\tnobody reads\ta reason\n")
        code, output = prose(script, root)
        assert code == 0, output
        (root / "formats/a.cpp").write_text("")
        code, output = prose(script, root)
        assert code == 0 and "2 hits fewer than recorded" in output, output


if __name__ == "__main__":
    main()
