"""What a result was made from, so that it can be made again, and which files were written."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rcweb.storage.errors import reason
from rcweb.storage.plain import plain
from rcweb.storage.version import __version__

RECORD = "provenance.json"
MAX_RECORD_BYTES = 1 << 24
MAX_DEPTH = 32
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pandas")
_NOT_SEALED = ("finished", "sha256")
_TABLES = ("inputs", "files")  # parts of the record that hold one dictionary per entry
_VALUES = ("parameters", "variance")  # and those that hold values; of the variance numbers


def provenance(
    *,
    inputs: Mapping[str, Mapping[str, Any]],
    parameters: Mapping[str, Any],
    seed: int | None,
    input_check: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A record of one run. Repeating the run changes only the field ``finished``.

    `inputs` : ``{role: {"file": name, "sha256": checksum, ...}}``; `input_check` : the result of
    `InputCheck.to_plain`.
    """
    return {
        "rcweb": __version__,
        "inputs": plain({role: dict(facts) for role, facts in inputs.items()}),
        "input_check": plain(dict(input_check or {})),
        "parameters": plain(dict(parameters)),
        "seed": seed,
        "python": platform.python_version(),
        "packages": {name: found for name in _PACKAGES if (found := installed_version(name))},
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def installed_version(package: str) -> str:
    """The version of an installed package; "" if it is missing."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def provenance_text(record: Mapping[str, Any]) -> str:
    """The record as JSON."""
    return json.dumps(record, indent=2, allow_nan=False) + "\n"


def sealed(record: Mapping[str, Any], files: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The record with the size and checksum of every file written, and its own checksum."""
    whole = {**record, "files": {name: dict(facts) for name, facts in files.items()}}
    return {**whole, "sha256": _seal(whole)}


def is_unchanged(text: str, record: Mapping[str, Any]) -> bool:
    """Whether the text of a record is as it was written."""
    return text == provenance_text(record) and record.get("sha256") == _seal(record)


def read_provenance(folder: Path) -> tuple[str, dict[str, Any]]:
    """Text and content of the record in `folder`, which may come from anyone.

    Raises ValueError if it is too large, nested too deeply or does not have its usual form.
    """
    with (folder / RECORD).open("rb") as file:
        # One byte more than allowed tells a large file without reading all of it.
        content = file.read(MAX_RECORD_BYTES + 1)
    if len(content) > MAX_RECORD_BYTES:
        raise ValueError(f"{RECORD} is larger than {MAX_RECORD_BYTES:,} bytes.")
    text = content.decode("utf-8")
    try:
        record = json.loads(text)
    except RecursionError:
        raise ValueError(f"{RECORD} is nested too deeply.") from None
    except ValueError as error:
        raise ValueError(f"{RECORD} is not JSON ({reason(error)}).") from None
    _check_form(record)
    return text, record


def _check_form(record: Any) -> None:
    """What is shown and written again must have the form that `provenance` gives it."""
    if _is_deeper(record, MAX_DEPTH):
        raise ValueError(f"{RECORD} is nested too deeply.")
    parts = [record.get(k, {}) if isinstance(record, dict) else None for k in _TABLES]
    entries = [entry for part in parts if isinstance(part, dict) for entry in part.values()]
    plain_parts = [record.get(k, {}) if isinstance(record, dict) else None for k in _VALUES]
    numbers = plain_parts[-1].values() if isinstance(plain_parts[-1], dict) else []
    if not (
        all(isinstance(part, dict) for part in [*parts, *entries, *plain_parts])
        and all(isinstance(number, int | float) for number in numbers)
    ):
        raise ValueError(f"{RECORD} does not have the form that rcweb gives it.")


def _is_deeper(value: Any, limit: int) -> bool:
    # Level by level, without recursion: a hostile file could exhaust the stack.
    level = [value]
    for _ in range(limit):
        containers = [v for v in level if isinstance(v, (dict, list))]
        level = [w for v in containers for w in (v.values() if isinstance(v, dict) else v)]
    return bool(level)


def _seal(record: Mapping[str, Any]) -> str:
    """Checksum of the record without its time and itself, so that equal runs have equal ones."""
    rest = {key: value for key, value in record.items() if key not in _NOT_SEALED}
    return hashlib.sha256(provenance_text(rest).encode()).hexdigest()
