"""What mirrors the header of libsptile-tools agrees with it."""

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

from sptile import _tools

HEADER = ROOT / "tools" / "capi" / "sptile_tools.h"
STRUCTS = {
    "sptile_tools_loss": _tools.Loss,
    "sptile_tools_options": _tools.Options,
    "sptile_tools_report": _tools.Report,
    "sptile_tools_windows": _tools.Windows,
    "sptile_tools_quality": _tools.Quality,
    "sptile_tools_sorted": _tools.Sorted,
    "sptile_tools_rows": _tools.Rows,
    "sptile_tools_sampling": _tools.Sampling,
    "sptile_tools_sampled": _tools.Sampled,
}


def declarations() -> str:
    return re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)


def test_structs_have_the_layout_of_the_header(tmp_path: Path) -> None:
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        pytest.skip("no C compiler")
    expected = {f"sizeof({struct})": ctypes.sizeof(kind) for struct, kind in STRUCTS.items()}
    for struct, kind in STRUCTS.items():
        for field in kind._fields_:
            expected[f"offsetof({struct}, {field[0]})"] = getattr(kind, field[0]).offset
            expected[f"sizeof((({struct}*)0)->{field[0]})"] = getattr(kind, field[0]).size
    for name in ("NEVER", "ALWAYS", "IF_SYMMETRIC"):
        expected[f"SPTILE_TRANSPOSE_{name}"] = getattr(_tools, f"TRANSPOSE_{name}")
    lines = [f'printf("%s=%lld\\n", "{fact}", (long long)({fact}));' for fact in expected]
    source = tmp_path / "facts.c"
    source.write_text('#include <stdio.h>\n#include "sptile_tools.h"\nint main(void) {\n' + "\n".join(lines) + "\nreturn 0;}\n")
    folders = ["-I", str(HEADER.parent), "-I", str(ROOT / "runtime/include")]
    subprocess.run([compiler, *folders, source, "-o", tmp_path / "facts"], check=True)
    output = subprocess.run([tmp_path / "facts"], check=True, capture_output=True, text=True).stdout
    assert {name: int(value) for name, value in (line.rsplit("=", 1) for line in output.splitlines())} == expected


def test_nothing_of_the_header_is_missing() -> None:
    text = declarations()
    functions = set(re.findall(r"^(?:int|void|const char\*|sptile_status) (sptile_\w+)\(", text, flags=re.M))
    assert functions == set(_tools.SIGNATURES)
    assert set(re.findall(r"typedef struct (sptile_\w+) \{", text)) == set(STRUCTS)
    for struct, kind in STRUCTS.items():
        body = re.search(rf"typedef struct {struct} \{{(.*?)\}} {struct};", text, flags=re.S)
        assert body is not None
        fields = [name for names in re.findall(r"\w+\*? ([\w, \[\]]+);", body[1]) for name in names.split(", ")]
        assert [re.sub(r"\[.*", "", name) for name in fields] == [field[0] for field in kind._fields_]


def test_the_versions_agree() -> None:
    assert _tools.library().sptile_tools_version() == _tools.c.lib.sptile_version()
