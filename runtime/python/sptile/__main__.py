"""`python -m sptile VERB ...` runs the `sptile` command of this installation."""

import os
import sys

from ._config import find_command
from .errors import UnsupportedError


def main() -> int:
    command = find_command()
    if command is None:
        print(
            "sptile: the sptile command was not found; install the wheel, or set SPTILE_COMMAND to its path",
            file=sys.stderr,
        )
        return UnsupportedError.status
    os.execv(command, [command, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
