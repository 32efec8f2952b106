"""Checkpoints: a fit that was killed resumes from its last saved stage and gives the same bits.

A checkpoint is a folder with one file per finished stage, each written atomically. Every file
carries the identity of the fit (data, parameters, versions). A file of another fit or a damaged
file raises an error and stays untouched.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from rcweb.storage.atomic import TEMPORARY
from rcweb.storage.plain import from_plain, plain
from rcweb.storage.record import (
    BLOCK,
    Record,
    RecordError,
    contiguous,
    read_document,
    read_record,
    write_record,
)
from rcweb.storage.version import __version__

T = TypeVar("T")

SUFFIX = ".stage"
EVERY = 30.0  # seconds between two saves of work in progress
# Other versions of these draw or sum differently, and "the same bits" would be a lie.
_BIT_PACKAGES = ("numpy", "scipy", "numba")


class CheckpointError(ValueError):
    """A checkpoint is damaged or belongs to another fit; it was not changed."""


def fingerprint(*arrays: NDArray[Any]) -> str:
    """SHA-256 over types, shapes and values of the arrays (in C order), in hexadecimal."""
    digest = hashlib.sha256()
    for array in map(np.atleast_1d, arrays):
        digest.update(f"{array.dtype.str} {array.shape} ".encode("ascii"))
        # In blocks: an array that is not contiguous would be copied as a whole.
        rows = max(1, BLOCK * len(array) // max(1, array.nbytes))
        for start in range(0, len(array), rows):
            digest.update(np.ascontiguousarray(array[start : start + rows]).data)
    return digest.hexdigest()


def identity(data: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The identity of a fit: fingerprint of its data, its parameters, library versions."""
    versions = {"rcweb": __version__, **{name: version(name) for name in _BIT_PACKAGES}}
    return {"data": data, "parameters": plain(dict(parameters)), "versions": versions}


@dataclass
class Checkpoint:
    """The stages of one fit in `folder`, which is created if it does not exist.

    identity : see `identity`; stages of a fit with another one are refused at once
    every : seconds between two saves of work in progress
    """

    folder: Path
    identity: Mapping[str, Any]
    every: float = field(default_factory=lambda: EVERY)
    _saved_at: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        """Refuse what belongs to another fit before any work is done."""
        self.folder = Path(self.folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise CheckpointError(f"{self.folder} is a file; name a folder for the checkpoint.")
        self.folder.mkdir(parents=True, exist_ok=True)
        paths = sorted(self.folder.glob(f"*{SUFFIX}"))
        half_written = [path for path in paths if path.name.startswith(TEMPORARY)]
        for path in paths:
            if path not in half_written:
                self._check_identity(path)
        # Only after all checks: a folder that is refused stays untouched.
        for path in half_written:  # by a run that was killed
            path.unlink(missing_ok=True)

    def load(self, name: str, kind: type[T], rng: np.random.Generator | None = None) -> T | None:
        """The dataclass saved under this name, or None. Restores the state of the generator."""
        record = self.read(name)
        if record is None:
            return None
        if rng is not None:
            rng.bit_generator.state = record.document["rng"]
        return unpack(record, kind)

    def save(self, name: str, value: Any, rng: np.random.Generator | None = None) -> None:
        """Save a (nested) dataclass of arrays and plain values, and the state of the generator."""
        record = pack(value)
        state = {} if rng is None else {"rng": rng.bit_generator.state}
        self.write(name, Record(record.arrays, {**record.document, **state}))

    def read(self, name: str) -> Record | None:
        """The record that was written under this name, None if there is none."""
        path = self._path(name)
        if not path.exists():
            return None
        self._check_identity(path)
        try:
            record = read_record(path)
        except RecordError as error:
            raise self._damaged(path, error) from None
        return Record(record.arrays, record.document["stage"])

    def write(self, name: str, record: Record) -> None:
        """Write a record under this name and replace the old one."""
        document = {"identity": dict(self.identity), "stage": plain(dict(record.document))}
        write_record(self._path(name), Record(record.arrays, document))
        # Counted from the end of the write, so that slow disks do not save all the time.
        self._saved_at = time.monotonic()

    def due(self) -> bool:
        """Whether `every` seconds have passed since the last save."""
        return time.monotonic() - self._saved_at >= self.every

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{SUFFIX}"

    def _check_identity(self, path: Path) -> None:
        try:
            found = read_document(path).get("identity")
        except RecordError as error:
            raise self._damaged(path, error) from None
        # Resuming another fit would silently mix two results.
        if found != self.identity:
            raise CheckpointError(
                f"The checkpoint {self.folder} belongs to another fit: "
                f"{_difference(found, self.identity)}. It was not changed; name another folder, "
                "or remove this one to start again."
            )

    def _damaged(self, path: Path, error: RecordError) -> CheckpointError:
        return CheckpointError(
            f"The checkpoint {path} is damaged: {error}. It was not changed; remove this file to "
            "do its stage again."
        )


def remove_checkpoint(folder: Path) -> None:
    """Remove the stages in `folder`; and the folder itself, if nothing else is in it."""
    for path in folder.glob(f"*{SUFFIX}"):
        path.unlink(missing_ok=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _difference(found: Any, wanted: Mapping[str, Any]) -> str:
    """The first thing that differs, in words."""
    if not isinstance(found, dict) or not all(isinstance(v, dict | str) for v in found.values()):
        return "it does not say which"
    if found.get("data") != wanted["data"]:
        return "the data differ"
    for part, what in (("parameters", "{}"), ("versions", "the version of {}")):
        there, here = found.get(part), wanted[part]
        if not isinstance(there, dict):
            return "it does not say which"
        for name in sorted({*there, *here}):
            if there.get(name) != here.get(name):
                return f"{what.format(name)} was {there.get(name)!r} and is {here.get(name)!r}"
    return "it has fields that this version does not know"


def pack(value: Any) -> Record:
    """A frozen dataclass as a record: arrays under ``field.field`` names, the rest as plain values.

    The inverse is `unpack`. Nested dataclasses are followed; numbers keep all their bits.
    """
    arrays: dict[str, NDArray[Any]] = {}
    values: dict[str, Any] = {}
    for name, item in _items(value):
        if isinstance(item, np.ndarray):
            arrays[name] = contiguous(item)
        else:
            values[name] = plain(item)
    return Record(arrays, {"values": values})


def unpack(record: Record, kind: type[T]) -> T:
    """The dataclass of this `kind` that `pack` made the record from."""
    values = {name: from_plain(item) for name, item in record.document["values"].items()}
    return _built(kind, {**values, **record.arrays}, "")


def _items(value: Any, prefix: str = "") -> list[tuple[str, Any]]:
    items: list[tuple[str, Any]] = []
    for entry in fields(value):
        item = getattr(value, entry.name)
        name = f"{prefix}{entry.name}"
        nested = is_dataclass(item) and not isinstance(item, type)
        items += _items(item, f"{name}.") if nested else [(name, item)]
    return items


def _built(kind: Any, items: Mapping[str, Any], prefix: str) -> Any:
    # Annotations are text here; the hints resolve nested dataclasses.
    hints = get_type_hints(kind)
    arguments = {}
    for entry in fields(kind):
        name = f"{prefix}{entry.name}"
        if name in items:
            arguments[entry.name] = items[name]
        else:
            arguments[entry.name] = _built(hints[entry.name], items, f"{name}.")
    return kind(**arguments)
