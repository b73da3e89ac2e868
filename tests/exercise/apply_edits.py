#!/usr/bin/env python3
"""Applies the edits of all exercises to copies of the files that they edit, and hands some of them out.

    apply_edits.py PROJECT_ROOT OUTPUT_FOLDER [NAME...]

NAME is the path of an edited file; its copy is OUTPUT_FOLDER/its last part. A header is also copied to
OUTPUT_FOLDER/edited/NAME, for "-iquote OUTPUT_FOLDER/edited".
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

EXERCISES = ("format", "operation", "kernel", "attribute")


def edited_files(patch):
    return re.findall(r"^--- a/(.+)$", patch.read_text(), re.MULTILINE)


def apply_all(root, folder):
    """Copies what is edited to a folder and edits it there, one exercise after the other."""
    patches = [root / "tests/exercise" / name / "edits.patch" for name in EXERCISES]
    for name in {name for patch in patches for name in edited_files(patch)}:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, folder / name)
    for patch in patches:
        subprocess.run(["patch", "-p1", "-s", "--no-backup-if-mismatch", "-i", str(patch.resolve())], cwd=folder, check=True)


def main():
    root, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as scratch:
        apply_all(root, pathlib.Path(scratch))
        for name in sys.argv[3:]:
            shutil.copy(pathlib.Path(scratch) / name, output / pathlib.PurePath(name).name)
            if name.endswith(".hpp"):
                (output / "edited" / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(pathlib.Path(scratch) / name, output / "edited" / name)


if __name__ == "__main__":
    main()
