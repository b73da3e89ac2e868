#!/usr/bin/env python3
"""Installs sptile into a temporary folder, then builds and runs a C and a C++ program against it.

    install_test.py PROJECT_ROOT BUILD_FOLDER

Once with pkg-config, once with CMake. What is missing for a part is said, and the test then ends with 77
(skipped). Also checks that the code in docs/guide is the code of these programs.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
skipped = []


def run(*command, **options):
    """Runs a command and returns what it prints; a failure ends the test with the command's output."""
    result = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, **options)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed with {result.returncode}:\n{result.stdout}")
    return result.stdout


def install(build, folder):
    """Returns the prefix inside the folder and the environment that finds its library."""
    run("meson", "install", "-C", build, "--no-rebuild", "--destdir", folder)
    header = next(folder.rglob("sptile.h"))
    prefix = header.parent.parent
    library = next(prefix.rglob("libsptile.so")).parent
    return prefix, library, dict(os.environ, LD_LIBRARY_PATH=str(library))


def skip(missing):
    print(f"SKIPPED: {missing}", file=sys.stderr)
    skipped.append(missing)


def make_bundle(root, build, work):
    """Returns the arguments that name a bundle; none where the command was not built."""
    command = build / "tools" / "sptile"
    if not command.exists():
        skip("the sptile command, so there is no bundle to read")
        return []
    run(command, "convert", root / "data" / "examples" / "fem_plate.mtx", work / "example.h5", "-q")
    return [work / "example.h5"]


def check_programs(programs, bundle, environment):
    for program in programs:
        print(run(program, *bundle, env=environment), end="")


def test_pkg_config(sources, prefix, library, work, bundle, environment):
    """The flags that the docs name: pkg-config --cflags --libs sptile."""
    pkg_config = dict(os.environ, PKG_CONFIG_PATH=str(library / "pkgconfig"))
    flags = run("pkg-config", f"--define-variable=prefix={prefix}", "--cflags", "--libs", "sptile",
                env=pkg_config).split()
    run(os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-Werror", sources / "consumer.c", "-o",
        work / "c", *flags, "-lm")
    run(os.environ.get("CXX", "c++"), "-std=c++20", "-Wall", "-Wextra", "-Werror", sources / "consumer.cpp", "-o",
        work / "cpp", *flags)
    check_programs([work / "c", work / "cpp"], bundle, environment)
    older = subprocess.run([os.environ.get("CXX", "c++"), "-std=c++17", "-fsyntax-only", sources / "consumer.cpp", *flags],
                           text=True, stderr=subprocess.PIPE)
    assert older.returncode != 0 and "sptile.hpp needs C++20" in older.stderr, older.stderr
    # All headers of products over processes are there. Those of CUDA and NCCL are stood in for.
    over_processes = ["-std=c++20", "-fsyntax-only", "-x", "c++", "-include", "sptile_dist.hpp", os.devnull, *flags]
    run(os.environ.get("CXX", "c++"), "-Wall", "-Wextra", "-Werror", "-DSPTILE_DIST_NCCL",
        f"-I{sources.parent / 'dist' / 'stand_in'}", *over_processes)
    if shutil.which("mpicxx") is None:
        return skip("mpicxx")
    run("mpicxx", "-DSPTILE_DIST_MPI", *over_processes)


def test_tools(sources, prefix, library, work, environment):
    """Conversions in a program: pkg-config --cflags --libs sptile-tools."""
    pkg_config = dict(os.environ, PKG_CONFIG_PATH=str(library / "pkgconfig"))
    flags = run("pkg-config", f"--define-variable=prefix={prefix}", "--cflags", "--libs", "sptile-tools",
                env=pkg_config).split()
    run(os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-Werror", sources / "convert.c", "-o",
        work / "convert", *flags)
    run(work / "convert", work / "converted.h5", env=environment)
    check_programs([work / "c"], [work / "converted.h5"], environment)


def test_command(root, prefix, work, environment):
    """The installed command, which must find the installed program that calls HDF5."""
    command = prefix / "bin" / "sptile"
    run(command, "convert", root / "data" / "examples" / "fem_plate.mtx", work / "installed.h5", "-q", env=environment)
    run(command, "verify", work / "installed.h5", "-q", env=environment)


def test_cmake(sources, prefix, work, bundle, environment):
    if shutil.which("cmake") is None:
        return skip("cmake")
    # The imported target requires C++20, also where the compiler's default is older.
    run("cmake", "-S", sources, "-B", work / "cmake", f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_CXX_STANDARD=17")
    run("cmake", "--build", work / "cmake")
    check_programs([work / "cmake" / "consumer_c", work / "cmake" / "consumer_cpp"], bundle, environment)
    tools = work / "tools"
    tools.mkdir()
    (tools / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.16)\nproject(tools C)\nfind_package(sptile REQUIRED)\n"
                                          f"add_executable(convert {sources / 'convert.c'})\n"
                                          "target_link_libraries(convert PRIVATE sptile::sptile-tools)\n")
    run("cmake", "-S", tools, "-B", tools / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tools / "build")
    run(tools / "build" / "convert", work / "by_cmake.h5")
    wrong = work / "wrong"
    wrong.mkdir()
    (wrong / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.16)\nproject(wrong C)\n"
                                          "find_package(sptile 0.2 REQUIRED)\n")
    refused = subprocess.run(["cmake", "-S", wrong, "-B", wrong / "build", f"-DCMAKE_PREFIX_PATH={prefix}"],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if refused.returncode == 0:
        sys.exit("CMake accepted version 0.1 where 0.2 was asked for")


def test_docs(root, sources):
    shown = {"cpp.md": (("c", "consumer.c"), ("cpp", "consumer.cpp"), ("cmake", "CMakeLists.txt")),
             "convert-in-c.md": (("c", "convert.c"),)}
    for how_to, language, name in ((how_to, *program) for how_to, programs in shown.items() for program in programs):
        page = (root / "docs" / "guide" / how_to).read_text()
        blocks = re.findall(rf"^```{language}\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
        if (sources / name).read_text() not in blocks:
            sys.exit(f"docs/guide/{how_to} does not show tests/install/{name} as it is")


def main():
    root, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    sources = root / "tests" / "install"
    test_docs(root, sources)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        prefix, library, environment = install(build, work / "root")
        bundle = make_bundle(root, build, work)
        test_pkg_config(sources, prefix, library, work, bundle, environment)
        test_tools(sources, prefix, library, work, environment)
        test_command(root, prefix, work, environment)
        test_cmake(sources, prefix, work, bundle, environment)
    sys.exit(SKIP if skipped else 0)


if __name__ == "__main__":
    main()
