"""libsptile loads libsptile-cuda, which has the kernels for CUDA, when a device is first asked for."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

CUDA_LIBRARY = "libsptile-cuda.so.0"

MULTIPLY = """
import pathlib
import numpy, scipy.sparse, sptile
A = scipy.sparse.eye(3, format="csr", dtype="f4")
def mapped():
    return "libsptile-cuda" in pathlib.Path("/proc/self/maps").read_text()
"""


@pytest.fixture
def core():
    """The path of a libsptile that loads libsptile-cuda."""
    path = os.environ.get("SPTILE_LIBRARY")
    if path is None or CUDA_LIBRARY.encode() not in pathlib.Path(path).read_bytes():
        pytest.skip("SPTILE_LIBRARY names no libsptile with kernels for CUDA")
    return pathlib.Path(path)


def python(source, library):
    done = subprocess.run([sys.executable, "-c", MULTIPLY + source], capture_output=True, text=True, check=False,
                          env={**os.environ, "SPTILE_LIBRARY": str(library)})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_products_on_the_cpu_do_not_load_it(core):
    assert python("sptile.plan(A, 4, device='cpu') @ numpy.ones((3, 4), 'f4'); print(mapped())", core) == "False\n"


PLAN_ON_CUDA = """
try:
    sptile.plan(A, 4, device='cuda')
except sptile.Error as error:
    print(error)
print(mapped())
"""


def test_plans_on_cuda_load_it(core):
    assert python(PLAN_ON_CUDA, core).endswith("True\n")


def test_without_it_the_error_names_it(core, tmp_path):
    alone = pathlib.Path(shutil.copy(core.resolve(), tmp_path / "libsptile.so.0"))
    output = python(PLAN_ON_CUDA, alone)
    assert f"install {CUDA_LIBRARY} next to libsptile, or use the CPU" in output and output.endswith("False\n")
