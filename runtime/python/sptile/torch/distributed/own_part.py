"""Finds the part of this rank in the folder of a partition, and proves with the others that all are of one."""

from __future__ import annotations

import json
import os
import stat
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import BadInputError, Error, IoError, UnsupportedError, UsageError
from ...part import Part, open_part
from .ranks import Ranks

_SCHEMA = 1
_MOST_BYTES = 64 << 20


def open_own_part(path: str | os.PathLike[str], ranks: Ranks) -> Part:
    """Part `ranks.rank` of a folder that `sptile partition` made.

    Errors are those of every rank, alike: UsageError where the folder has another number of parts than there are
    ranks; IoError, BadInputError or UnsupportedError where one cannot read its part, or the parts are not of one
    partition, or do not fit each other.
    """
    part, records = ranks.attempt(lambda: open_one_part(path, ranks.rank, ranks), lambda part: {"id": part.id})
    others = [rank for rank, one in enumerate(records) if one["id"] != records[0]["id"]]
    if others:
        raise BadInputError(
            f"rank 0 has a part of partition {records[0]['id']}, rank {others[0]} one of "
            f"{records[others[0]]['id']}; every rank needs the same folder"
        )
    _check_lists(part, ranks)
    return part


def open_one_part(path: str | os.PathLike[str], number: int, ranks: Ranks) -> Part:
    """Part `number`, without a word to the others."""
    try:
        folder = Path(path)
    except TypeError:
        raise UsageError(f"path = {path!r} is no path") from None
    about = _read_description(folder / "partition.json")
    if len(about["parts"]) != ranks.size:
        raise UsageError(
            f"{folder} has {len(about['parts'])} parts, the group {ranks.size} ranks; start as many processes as "
            "there are parts, or divide the matrix anew"
        )
    file = folder / f"part-{number:04d}.h5"
    part = open_part(file)
    if part.id != about["id"]:
        raise BadInputError(f"{file}: is of partition {part.id}, partition.json is of {about['id']}")
    if (part.rank, part.parts) != (number, ranks.size):
        raise BadInputError(
            f"{file}: says that it is part {part.rank} of {part.parts}, but stands at {number} of {ranks.size}"
        )
    for matrix in (part.local, part.halo):
        matrix.csr()  # checks the arrays, in one pass
    return part


def _read_description(file: Path) -> dict[str, Any]:
    try:
        about = json.loads(_small_file(file))
    except Error:
        raise
    except OSError as error:
        raise IoError(f"{file}: {error.strerror}; `sptile partition` makes such folders") from None
    except RecursionError:
        raise BadInputError(f"{file}: is nested too deeply; partition the matrix again") from None
    except ValueError as error:
        raise BadInputError(f"{file}: is no JSON: {error}; partition the matrix again") from None
    schema = about.get("schema_version") if isinstance(about, dict) else None
    if isinstance(schema, int) and schema > _SCHEMA:
        raise UnsupportedError(f"{file}: schema_version is {schema}; this sptile reads {_SCHEMA}")
    if schema != _SCHEMA or not isinstance(about.get("id"), str) or not isinstance(about.get("parts"), list):
        raise BadInputError(f"{file}: is no description of a partition; partition the matrix again")
    return dict(about)


def _small_file(path: Path) -> bytes:
    """The bytes of a file of at most 64 MiB. It is opened once, and a named pipe is not waited for."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > _MOST_BYTES:
            raise BadInputError(f"{path}: not a file that sptile writes; partition the matrix again")
        return file.read(_MOST_BYTES)


def _check_lists(part: Part, ranks: Ranks) -> None:
    """What each part sends to each other one must be what that one expects, row by row: BadInputError."""
    sent = _digests(part.old_ids[part.send_rows], part.send_offset)
    expected = _digests(part.halo_ids, part.receive_offset)
    numbers = ranks.numbers(sent + expected)
    half = 2 * ranks.size
    for sender in range(ranks.size):
        for receiver in range(ranks.size):
            to, of = 2 * receiver, half + 2 * sender
            if numbers[sender][to : to + 2] != numbers[receiver][of : of + 2]:
                raise BadInputError(
                    f"part {sender} does not send what part {receiver} expects of it: "
                    f"{numbers[sender][to]} rows for {numbers[receiver][of]}, or others; partition the matrix again"
                )


def _digests(ids: np.ndarray[Any, Any], offset: np.ndarray[Any, Any]) -> list[int]:
    """Count and checksum of the ids for each part."""
    pieces = (ids[offset[i] : offset[i + 1]] for i in range(len(offset) - 1))
    return [number for piece in pieces for number in (len(piece), zlib.crc32(piece.tobytes()))]
