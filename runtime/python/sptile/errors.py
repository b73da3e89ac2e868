"""Errors of sptile: each is an `Error`, and the builtin that says the same."""

from __future__ import annotations


def printable(text: str) -> str:
    """`text` with control characters, and others that a terminal does not show, as escapes."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )


class Error(Exception):
    """Anything that sptile refuses or that fails in it; `status` is the `sptile_status` of the C
    interface."""

    status: int = 70

    def __str__(self) -> str:
        return printable(super().__str__())


class UsageError(Error, ValueError):
    """The call makes no sense: mismatched shapes, a type or an option that there is not, a closed handle."""

    status = 2


class BadInputError(Error, ValueError):
    """A file or an array breaks its format."""

    status = 3


class UnsupportedError(Error, NotImplementedError):
    """The call is right, but this build or machine cannot run it."""

    status = 4


class IoError(Error, OSError):
    """The system refused: no such file, out of memory."""

    status = 5


class DeviceError(Error, RuntimeError):
    """An accelerator is missing or failed."""

    status = 6


class CheckError(Error, AssertionError):
    """A verification found different numbers."""

    status = 7


class InternalError(Error, RuntimeError):
    """A bug in sptile."""

    status = 70


_BY_STATUS: dict[int, type[Error]] = {
    kind.status: kind
    for kind in (UsageError, BadInputError, UnsupportedError, IoError, DeviceError, CheckError, InternalError)
}


def error_of(status: int, message: str) -> Error:
    """The error of a status other than 0."""
    return _BY_STATUS.get(status, InternalError)(message)
