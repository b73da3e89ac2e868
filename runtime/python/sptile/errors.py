"""Exceptions of sptile. Each is an `Error`, and the builtin exception for the same failure."""

from __future__ import annotations

import errno
import os


def printable(text: str) -> str:
    """Returns `text` with control characters, and others that a terminal does not show, as escapes."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )


class Error(Exception):
    """Base class of all exceptions that sptile raises.

    Attributes
    ----------
    status : int
        Status of the C interface; the `sptile` command exits with the same number.

    Examples
    --------
    >>> import sptile
    >>> try:
    ...     sptile.open("missing.h5")
    ... except sptile.Error as error:
    ...     print(type(error).__name__, error.status)
    MissingFileError 5
    """

    status: int = 70

    def __str__(self) -> str:
        return printable(super().__str__())


class UsageError(Error, ValueError):
    """An argument is invalid: a shape, a type, a name or an option; or the object is closed.

    Also a `ValueError`. Status 2.

    Examples
    --------
    >>> import scipy.sparse, sptile
    >>> A = scipy.sparse.eye_array(3, format="csr")
    >>> try:
    ...     sptile.plan(A, 0)
    ... except ValueError as error:
    ...     print(error)
    plan: n = 0; the dense operands need at least one column
    """

    status = 2


class ArgumentTypeError(UsageError, TypeError):
    """An argument has the wrong Python type, or no function takes it.

    Also a `UsageError`, a `ValueError` and a `TypeError`. Status 2.

    Examples
    --------
    >>> import scipy.sparse, sptile
    >>> A = scipy.sparse.eye_array(3, format="csr")
    >>> try:
    ...     sptile.plan(A, 16, formt="csr")
    ... except TypeError as error:
    ...     print(error)
    plan() got an unexpected keyword argument 'formt'; did you mean 'format'?
    """


class BadInputError(Error, ValueError):
    """A file or an array violates its format.

    Also a `ValueError`. Status 3.

    Examples
    --------
    >>> import sptile
    >>> with open("a.mtx", "w") as file:
    ...     _ = file.write("%%MatrixMarket matrix coordinate real general\\n2 2 1\\n1 3 1.0\\n")
    >>> try:
    ...     sptile.read("a.mtx")
    ... except sptile.BadInputError as error:
    ...     print(error.status)
    3
    """

    status = 3


class UnsupportedError(Error, NotImplementedError):
    """The call is valid, but this build or machine does not support it.

    Also a `NotImplementedError`. Status 4.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, sptile
    >>> try:
    ...     sptile.plan(scipy.sparse.csr_array(np.eye(3) * 1j), 16)
    ... except sptile.UnsupportedError as error:
    ...     print(error)
    A has complex128 values; convert them to float32 or float64
    """

    status = 4


class IoError(Error, OSError):
    """The operating system refused a request, for example for memory.

    Also an `OSError`. Status 5.

    Examples
    --------
    >>> import sptile
    >>> try:
    ...     sptile.convert("data/examples/fem_plate.mtx", "missing/plate.h5")
    ... except OSError as error:
    ...     print(isinstance(error, sptile.IoError))
    True
    """

    status = 5


class MissingFileError(IoError, FileNotFoundError):
    """A file or directory does not exist.

    Also an `IoError`, an `OSError` and a `FileNotFoundError`. Status 5.

    Examples
    --------
    >>> import sptile
    >>> try:
    ...     sptile.read("missing.mtx")
    ... except FileNotFoundError as error:
    ...     print(error)
    missing.mtx: No such file or directory
    """


class DeviceError(Error, RuntimeError):
    """A GPU is missing or failed, or its memory is exhausted.

    Also a `RuntimeError`. Status 6.

    Examples
    --------
    >>> import scipy.sparse, sptile
    >>> A = scipy.sparse.eye_array(3, format="csr", dtype="float32")
    >>> try:
    ...     plan = sptile.plan(A, 16, device="cuda:99")
    ... except (sptile.DeviceError, sptile.UnsupportedError):
    ...     print("no such GPU, or a build without CUDA")
    no such GPU, or a build without CUDA
    """

    status = 6


class CheckError(Error, AssertionError):
    """A verification found different results.

    Also an `AssertionError`. Status 7.

    Examples
    --------
    >>> import sptile
    >>> sptile.CheckError.status
    7
    """

    status = 7


class InternalError(Error, RuntimeError):
    """A bug in sptile. Please report it.

    Also a `RuntimeError`. Status 70.

    Examples
    --------
    >>> import sptile
    >>> issubclass(sptile.InternalError, RuntimeError)
    True
    """

    status = 70


_KINDS: dict[tuple[int, int], type[Error]] = {
    **{
        (kind.status, 0): kind
        for kind in (UsageError, BadInputError, UnsupportedError, IoError, DeviceError, CheckError, InternalError)
    },
    (IoError.status, errno.ENOENT): MissingFileError,
}
"""Class by status and error number of the system; 0: any other number."""


def error_of(status: int, message: str) -> Error:
    """Returns the exception for a status other than 0. The library appends the system's text to its message."""
    for (of_status, number), kind in _KINDS.items():
        if number and of_status == status and message.endswith(os.strerror(number)):
            error = kind(message)
            error.errno = number  # type: ignore[attr-defined]
            return error
    return _KINDS.get((status, 0), InternalError)(message)
