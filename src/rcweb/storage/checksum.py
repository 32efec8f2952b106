"""The checksum of a file, by which inputs and results are known again."""

from __future__ import annotations

import hashlib
from pathlib import Path

from rcweb.storage.errors import TableError


def checksum(path: Path) -> str:
    """SHA-256 of the file, in hexadecimal."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise TableError(f"{path.name} vanished while it was read.") from None
