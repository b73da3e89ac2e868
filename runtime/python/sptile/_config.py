"""Configuration of the installation: `show_config`, and the path of the `sptile` command."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import sysconfig
from importlib import metadata
from pathlib import Path
from typing import Any

from . import _library as c

_PACKAGES = ("numpy", "scipy", "torch", "cupy", "torch-geometric")


def find_command() -> str | None:
    """Returns the path of the `sptile` command: SPTILE_COMMAND, that of this environment, or the first on PATH."""
    scripts = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")]
    found = [os.environ.get("SPTILE_COMMAND"), *(str(Path(folder) / "sptile") for folder in scripts)]
    installed = next((path for path in found if path and os.access(path, os.X_OK) and Path(path).is_file()), None)
    return installed or shutil.which("sptile")


def _installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _tools_path() -> str | None:
    """Returns the path of libsptile-tools; None if it is missing."""
    from . import _tools

    try:
        return str(_tools.library()._name)
    except ImportError:
        return None


def configuration() -> dict[str, Any]:
    """Returns the entries that `show_config` prints."""
    return {
        "sptile": c.lib.sptile_version().decode(),
        "libsptile": c.lib._name,
        "libsptile-tools": _tools_path(),
        "command": find_command(),
        "Python": platform.python_version(),
        "executable": sys.executable,
        "platform": platform.platform(),
        "packages": {package: _installed(package) for package in _PACKAGES},
        "environment": {name: value for name, value in sorted(os.environ.items()) if name.startswith("SPTILE_")},
    }


def show_config(mode: str = "stdout") -> dict[str, Any] | None:
    """Prints the versions and paths of sptile and of the packages that it works with.

    Parameters
    ----------
    mode : str, optional
        "stdout" prints the configuration, "dicts" returns it.

    Returns
    -------
    dict or None
        The configuration with ``mode="dicts"``, otherwise None.

    Raises
    ------
    UsageError
        If the mode is unknown.

    Notes
    -----
    ``python -m sptile doctor`` also tests what this machine can run.

    Examples
    --------
    >>> import sptile
    >>> sptile.show_config(mode="dicts")["sptile"] == sptile.__version__
    True
    """
    from ._options import named

    named(mode, {"stdout": 0, "dicts": 1}, "mode")
    found = configuration()
    if mode == "dicts":
        return found
    for name, value in found.items():
        if isinstance(value, dict):
            print(f"{name}:")
            for inner, text in value.items():
                print(f"  {inner:24}{text or 'not installed'}")
        else:
            print(f"{name:26}{value or 'not found'}")
    return None
