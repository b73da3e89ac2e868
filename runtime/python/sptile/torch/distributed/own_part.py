"""Opens the part of this rank from a partition directory, and checks that the parts of all ranks match."""

from __future__ import annotations

import json
import os
import stat
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ArgumentTypeError, BadInputError, Error, IoError, UnsupportedError, UsageError, error_of
from ...part import Part, open_part
from .ranks import Ranks

_SCHEMA = 1
_MOST_BYTES = 64 << 20


def open_own_part(path: str | os.PathLike[str], ranks: Ranks) -> Part:
    """Opens part `ranks.rank` of a directory that `sptile partition` wrote.

    All ranks raise the same error: UsageError if the numbers of parts and ranks differ; IoError, BadInputError or
    UnsupportedError if a rank cannot read its part, or the parts do not belong to one partition or do not match.
    """
    part, records = ranks.attempt(lambda: open_one_part(path, ranks.rank, ranks), lambda part: {"id": part.id})
    others = [rank for rank, one in enumerate(records) if one["id"] != records[0]["id"]]
    if others:
        raise BadInputError(
            f"rank 0 has partition {records[0]['id']}, but rank {others[0]} has {records[others[0]]['id']}; pass the "
            "same directory on every rank"
        )
    _check_lists(part, ranks)
    return part


def open_one_part(path: str | os.PathLike[str], number: int, ranks: Ranks) -> Part:
    """Opens part `number`, without communication."""
    try:
        folder = Path(path)
    except TypeError:
        raise ArgumentTypeError(f"path must be a str or os.PathLike, got {path!r}") from None
    about = _read_description(folder / "partition.json")
    if len(about["parts"]) != ranks.size:
        raise UsageError(
            f"{folder} has {len(about['parts'])} parts, but the group has {ranks.size} ranks; start one process per "
            "part, or partition the matrix again"
        )
    file = folder / f"part-{number:04d}.h5"
    part = open_part(file)
    if part.id != about["id"]:
        raise BadInputError(f"{file}: is part of partition {part.id}, but partition.json describes {about['id']}")
    if (part.rank, part.parts) != (number, ranks.size):
        raise BadInputError(
            f"{file}: contains part {part.rank} of {part.parts}, expected {number} of {ranks.size}"
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
        raise error_of(IoError.status, f"not a directory of `sptile partition`: {file}: {error.strerror}") from None
    except RecursionError:
        raise BadInputError(f"{file}: is nested too deeply; partition the matrix again") from None
    except ValueError as error:
        raise BadInputError(f"{file}: not valid JSON: {error}; partition the matrix again") from None
    schema = about.get("schema_version") if isinstance(about, dict) else None
    if isinstance(schema, int) and schema > _SCHEMA:
        raise UnsupportedError(f"{file}: schema_version is {schema}, but this version reads up to {_SCHEMA}")
    if schema != _SCHEMA or not isinstance(about.get("id"), str) or not isinstance(about.get("parts"), list):
        raise BadInputError(f"{file}: not the description of a partition; partition the matrix again")
    return dict(about)


def _small_file(path: Path) -> bytes:
    """Returns the bytes of a file of at most 64 MiB. Opens it once, and does not wait for a named pipe."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > _MOST_BYTES:
            raise BadInputError(f"{path}: not a file that sptile writes; partition the matrix again")
        return file.read(_MOST_BYTES)


def _check_lists(part: Part, ranks: Ranks) -> None:
    """Raises BadInputError unless every part sends to every other part the rows that it expects."""
    sent = _digests(part.old_ids[part.send_rows], part.send_offset)
    expected = _digests(part.halo_ids, part.receive_offset)
    numbers = ranks.numbers(sent + expected)
    half = 2 * ranks.size
    for sender in range(ranks.size):
        for receiver in range(ranks.size):
            to, of = 2 * receiver, half + 2 * sender
            if numbers[sender][to : to + 2] != numbers[receiver][of : of + 2]:
                raise BadInputError(
                    f"part {sender} sends {numbers[sender][to]} rows to part {receiver}, which expects different rows "
                    f"({numbers[receiver][of]}); partition the matrix again"
                )


def _digests(ids: np.ndarray[Any, Any], offset: np.ndarray[Any, Any]) -> list[int]:
    """Returns the number and checksum of the ids of each part."""
    pieces = (ids[offset[i] : offset[i + 1]] for i in range(len(offset) - 1))
    return [number for piece in pieces for number in (len(piece), zlib.crc32(piece.tobytes()))]
