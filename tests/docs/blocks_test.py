#!/usr/bin/env python3
"""Runs the sh, C and C++ blocks of the README and of docs/ and compares the output that a page prints.

    blocks_test.py ROOT BUILD [--update]

The blocks of one page run in order, in a new folder in which build, data, docs, tests and tools are links. A C++ block
with `main` is compiled, linked and run; a block marked `fragment` is compiled as the body of a function, after the
declarations of fragments.hpp. Blocks that need a device, MPI or an installation are marked and not run
(pages.CONDITIONS). The blocks of the README must work twice. --update writes the outputs into the pages.
The Python blocks are run by tests/python/test_docs.py, which needs NumPy and PyTorch.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import pages

MARK = "\x1e"  # separates the outputs of the blocks of a page
HERE = pathlib.Path(__file__).resolve().parent


class Failure(Exception):
    pass


def run(command, **options):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))[:200]}: exit {done.returncode}\n{done.stdout}")
    return done.stdout


def script(block, number, build, root, work):
    """Returns shell commands that run a block."""
    if block.language == "sh":
        return block.text
    (work / f"block{number}.cpp").write_text(block.text)
    return (f"c++ -std=c++20 block{number}.cpp -I{root}/runtime/include -L{build}/runtime -l:libsptile.so.0 "
            f"-Wl,-rpath,{build}/runtime -o block{number}\n./block{number}\n")


def runnable(block):
    is_program = block.language == "cpp" and "int main(" in block.text and "argv" not in block.text
    return (block.language == "sh" or is_program) and not pages.condition(block)


def run_page(page, root, build, times):
    """Runs all blocks of a page `times` times. Returns the blocks and their outputs."""
    chosen = [block for block in pages.blocks(page) if runnable(block)]
    if not chosen:
        return []
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "build").symlink_to(build)
        for name in ("data", "docs", "tests", "tools", "README.md"):
            (work / name).symlink_to(root / name)
        parts = [script(block, i, build, root, work) + f"\nprintf '{MARK}'\n" for i, block in enumerate(chosen)]
        output = run(["bash", "-c", "set -euo pipefail\n" + "".join(parts * times)], cwd=work)
    return list(zip(chosen, output.split(MARK)))


def update(page, results):
    text = page.read_text()
    for block, output in results:
        if block.output is not None and pages.comparable(block.output) != pages.comparable(output):
            text = text.replace(f"```text output\n{block.output}```", f"```text output\n{output.strip()}\n```")
    page.write_text(text)


def differences(results):
    for block, output in results:
        if block.output is not None and (got := pages.comparable(output)) != (told := pages.comparable(block.output)):
            yield f"line {block.line}: the page prints\n{told}\nbut the block printed\n{got}\n"


def check_fragments(found, root):
    """Compiles the fragments of all pages as functions of one source. Returns their number."""
    fragments = [(page, block) for page, block in found if block.language in ("c", "cpp") and "fragment" in block.marks]
    source = ['#include "fragments.hpp"\n']
    for i, (page, block) in enumerate(fragments):
        source.append(f'[[maybe_unused]] static void fragment{i}() {{\n#line {block.line} "{page}"\n{block.text}}}\n')
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "fragments.cpp"
        path.write_text("".join(source))
        run(["c++", "-std=c++20", "-fsyntax-only", "-w", f"-I{root}/runtime/include", f"-I{root}/tools/capi", f"-I{HERE}", path])
    return len(fragments)


def main():
    root, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    failed, count, found = [], 0, []
    for page in pages.pages(root):
        found += [(page.relative_to(root), block) for block in pages.blocks(page)]
        try:
            results = run_page(page, root, build, 2 if page == root / "README.md" else 1)
            if "--update" in sys.argv:
                update(page, results)
            failed += [f"{page.relative_to(root)}: {text}" for text in differences(results)]
            count += len(results)
        except Failure as error:
            failed.append(f"{page.relative_to(root)}: {error}")
    try:
        count += check_fragments(found, root)
    except Failure as error:
        failed.append(str(error))
    for name, reason in pages.CONDITIONS.items():
        print(f"{sum(pages.condition(block) == name for _, block in found)} blocks marked {name} did not run: {reason}")
    assert count > 20, "few pages have blocks that run: wrong root?"
    print("\n".join(failed) or f"{count} blocks work")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    os.environ["LC_ALL"] = "C.UTF-8"
    os.environ["OMP_WAIT_POLICY"] = "passive"
    main()
