"""Errors of the tool: a message that says what is wrong and what would be right, and the exit code of the
command."""

USAGE, BAD_INPUT, UNSUPPORTED, IO, DEVICE = 2, 3, 4, 5, 6


class TrainError(Exception):
    """What ends the tool; `code` is its exit code, as docs/man/sptile.1 lists them."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code
