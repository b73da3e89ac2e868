#!/usr/bin/env python3
"""The example of a PETSc matrix that multiplies by sptile, in four processes: blocks of vectors are right, a solver
converges, and what is wrong is said.

    petsc_shell_test.py PROGRAM SPTILE MPIRUN
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM, SPTILE, MPIRUN = sys.argv[1:]
if not PROGRAM:
    print("SKIP: PETSc or MPI is not there (petsc-dev), or this is a build with sanitizers: its example is not tested",
          file=sys.stderr)
    sys.exit(77)
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_mpi_yield_when_idle": "1", "OMP_NUM_THREADS": "1"}


def sptile(*arguments):
    subprocess.run([SPTILE, *map(str, arguments), "-q"], check=True, stdout=subprocess.DEVNULL)


def shell(*arguments):
    command = [MPIRUN, "--oversubscribe", "--bind-to", "none", "-n", "4", PROGRAM, *map(str, arguments)]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)


def run(folder):
    sptile("gen", "grid2d", "--side", "40", "-o", folder / "grid.mtx")
    sptile("convert", folder / "grid.mtx", folder / "grid.h5", "--format", "csr", "--dtype", "f64")
    sptile("partition", folder / "grid.mtx", "--parts", "4", "--dtype", "f64", "-o", folder / "parts")
    for n in (1, 7, 32):
        done = shell(folder / "parts", folder / "grid.h5", n)
        assert done.returncode == 0, f"N = {n}: {done.returncode}\n{done.stdout}{done.stderr}"
        assert re.search(r"difference \S+ residual \S+", done.stdout), done.stdout
        print(f"right: N = {n}: {done.stdout.strip()}")
    shutil.copytree(folder / "parts", folder / "broken")
    (folder / "broken" / "part-0002.h5").unlink()
    done = shell(folder / "broken", folder / "grid.h5", 2)
    assert done.returncode != 0 and "rank 2" in done.stderr, f"{done.returncode}\n{done.stderr}"
    print("refused: a part that is missing")


with tempfile.TemporaryDirectory(prefix="sptile-test-") as name:
    run(pathlib.Path(name))
