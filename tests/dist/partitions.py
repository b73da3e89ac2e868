"""Matrices and their partitions, for the tests of products over processes."""
import os
import subprocess

# hwloc looks for displays of the X server by the name localhost, which takes 5 s each where that name has to be asked for.
ENVIRONMENT = {**os.environ, "HWLOC_COMPONENTS": "-gl", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_orte_base_help_aggregate": "0", "OMP_NUM_THREADS": "1"}


def finished(command, limit):
    """Runs a command and captures its output. Raises an error that contains the output after `limit` seconds."""
    try:
        return subprocess.run([*map(str, command)], env=ENVIRONMENT, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired as late:
        said = b"".join(one for one in (late.stdout, late.stderr) if one).decode(errors="replace")
        raise AssertionError(f"{command}: not finished after {limit} s\n{said}") from None


class Partitions:
    """Makes files in a folder by the sptile command."""

    def __init__(self, command, folder):
        self.command, self.folder = command, folder

    def sptile(self, *arguments):
        subprocess.run([self.command, *map(str, arguments), "-q"], check=True, stdout=subprocess.DEVNULL)

    def make(self, name, *kind, methods=("metis",), parts=4, wide=False):
        """NAME.h5, and NAME-METHOD, a folder of its parts, for each method."""
        dtype = ("--dtype", "f64") if wide else ()
        self.sptile("gen", *kind, "-o", self.folder / f"{name}.mtx")
        self.sptile("convert", self.folder / f"{name}.mtx", self.folder / f"{name}.h5", *dtype)
        for method in methods:
            self.sptile("partition", self.folder / f"{name}.h5", "--parts", parts, "--method", method, "-o",
                        self.folder / f"{name}-{method}")
