"""Errors of the tool: a message with the cause and the remedy, and the exit codes of the command."""

USAGE, BAD_INPUT, UNSUPPORTED, IO, DEVICE = 2, 3, 4, 5, 6


class TrainError(Exception):
    """Ends the tool; `code` is its exit code, as listed in docs/man/sptile.1."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code
