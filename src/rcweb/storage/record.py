"""Named arrays and a small JSON document in one file with a checksum over every byte; no pickle.

Layout: the line ``rcweb-record 1``, a line of JSON (document; name, type, shape and order of every
array), the arrays' bytes one after the other, the SHA-256 of all that. Arrays are written and read
without a second copy in memory. Why not npz: see docs/decisions.md.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from rcweb.storage.arrays import ARRAY_KINDS, AnyArray
from rcweb.storage.atomic import replacing
from rcweb.storage.errors import reason

MAGIC = b"rcweb-record 1\n"
MAX_HEADER = 1 << 26
_DIGEST = hashlib.sha256().digest_size
_KIND = re.compile(rf"[<>|][{ARRAY_KINDS}][1-9][0-9]{{0,5}}")
BLOCK = 1 << 24


class RecordError(ValueError):
    """A file that is not a whole and unchanged record."""


@dataclass(frozen=True)
class Record:
    """Arrays by name, and a document of plain values (see `rcweb.storage.plain`)."""

    arrays: Mapping[str, AnyArray] = field(default_factory=dict)
    document: Mapping[str, Any] = field(default_factory=dict)


def write_record(path: str | Path, record: Record) -> None:
    """Write atomically: a killed process leaves the old file or the new one."""
    arrays = {name: contiguous(array) for name, array in record.arrays.items()}
    header = {
        "document": dict(record.document),
        "arrays": [_described(name, array) for name, array in arrays.items()],
    }
    digest = hashlib.sha256()
    with replacing(path) as temporary, temporary.open("wb") as file:
        for part in (MAGIC, json.dumps(header, allow_nan=False).encode("ascii") + b"\n"):
            digest.update(part)
            file.write(part)
        for array in arrays.values():
            # A view of the bytes in memory order; no copy, since the array is contiguous.
            content = array.ravel(order="K").view(np.uint8).data
            digest.update(content)
            file.write(content)
        file.write(digest.digest())


def read_document(path: str | Path) -> dict[str, Any]:
    """The document alone, before any array is read; RecordError if this is no record."""
    with _opened(path) as file:
        document: dict[str, Any] = _header(file)["document"]
    return document


def read_record(path: str | Path) -> Record:
    """The whole record. Sizes are compared with the file, then the digest, before it is used."""
    digest = hashlib.sha256(MAGIC)
    with _opened(path) as file:
        header = _header(file, digest)
        try:
            described = [_checked(entry) for entry in header["arrays"]]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RecordError(f"its header is damaged ({reason(error)})") from None
        body = sum(math.prod(shape) * dtype.itemsize for _, dtype, shape, _ in described)
        there = os.fstat(file.fileno()).st_size - file.tell() - _DIGEST
        # Before allocating: a damaged header could claim any size.
        if body != there:
            raise RecordError(f"it should hold {body:,} bytes of arrays and holds {there:,}")
        arrays = {}
        for name, dtype, shape, order in described:
            flat = np.empty(math.prod(shape), dtype)
            _fill(file, flat, digest)
            arrays[name] = flat.reshape(shape, order=order)
        if file.read(_DIGEST) != digest.digest():
            raise RecordError("its checksum is wrong: bytes were changed")
    return Record(arrays, header["document"])


def contiguous(array: AnyArray) -> AnyArray:
    """The array as `read_record` gives it back: without gaps in memory, in its own order."""
    if array.dtype.kind not in ARRAY_KINDS:
        raise TypeError(f"a record holds numbers and text, not {array.dtype}.")
    return array if array.flags.f_contiguous else np.ascontiguousarray(array)


def _described(name: str, array: AnyArray) -> list[Any]:
    # The order in memory is kept: a product with an array of another order has other last bits.
    order = "C" if array.flags.c_contiguous else "F"
    return [name, array.dtype.str, list(array.shape), order]


def _checked(entry: Any) -> tuple[str, np.dtype[Any], tuple[int, ...], Any]:
    name, kind, shape, order = entry
    # Checked as text: NumPy would parse what a stranger wrote in many more ways.
    if not (_KIND.fullmatch(kind) and order in ("C", "F") and isinstance(name, str)):
        raise RecordError(f"its header describes {str(entry)[:80]!r}, which is no array of numbers")
    if not all(isinstance(size, int) and size >= 0 for size in shape):
        raise RecordError(f"its header gives the shape {shape}")
    return name, np.dtype(kind), tuple(shape), order


@contextmanager
def _opened(path: str | Path) -> Iterator[IO[bytes]]:
    with Path(path).open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise RecordError("it does not start with the line of an rcweb record")
        yield file


def _header(file: IO[bytes], digest: Any = None) -> dict[str, Any]:
    # Limited: a file without a line end would be read as a whole.
    line = file.readline(MAX_HEADER)
    if digest is not None:
        digest.update(line)
    try:
        header = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"its header is damaged ({reason(error)})") from None
    if not isinstance(header, dict) or not isinstance(header.get("document"), dict):
        raise RecordError("its header is damaged (no document)")
    return header


def _fill(file: IO[bytes], flat: AnyArray, digest: Any) -> None:
    view = memoryview(flat.view(np.uint8).data) if flat.size else memoryview(b"")
    for start in range(0, len(view), BLOCK):
        part = view[start : start + BLOCK]
        if file.readinto(part) != len(part):  # type: ignore[attr-defined]
            raise RecordError("it is cut off")
        digest.update(part)
