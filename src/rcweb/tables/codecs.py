"""Check the codecs of a zarr folder before any chunk is decoded.

An array's metadata names its codecs, and every zarr version knows the codec pickle: decoding a
chunk of an untrusted array could run code.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rcweb.storage.errors import TableError, reason, shorten

# A list of what is allowed, not of what is forbidden: new codecs are refused until checked.
SAFE = (
    *("blosc", "zstd", "zlib", "gzip", "bz2", "lzma", "lz4", "shuffle", "delta", "bitround"),
    *("quantize", "fixedscaleoffset", "packbits", "astype", "bytes", "transpose"),
    *("crc32", "crc32c", "adler32", "fletcher32", "sharding_indexed"),
)
_DESCRIPTIONS = (".zarray", "zarr.json")
_MAX_BYTES = 1 << 20


def check_zarr(path: Path) -> None:
    """Raise `TableError` unless every codec of the zarr folder is a known compressor or filter."""
    for name in _DESCRIPTIONS:
        file = path / name
        if not file.is_file():
            continue
        try:
            with file.open("rb") as stream:
                description = json.loads(stream.read(_MAX_BYTES))
        except (ValueError, RecursionError) as error:
            raise TableError(f"{path.name}: {name} is damaged ({reason(error)}).") from None
        for codec in _codecs(description):
            if codec.removeprefix("numcodecs.") not in SAFE:
                raise TableError(f"{path.name}: chunks packed by {shorten(codec)} are not read.")


def _codecs(description: Any) -> Iterator[str]:
    """Names of all codecs; of version 2 under "id", of version 3 under "name", also nested."""
    if not isinstance(description, dict):
        return
    for key in ("compressor", "filters", "codecs", "index_codecs"):
        entries = description.get(key) or []
        for entry in entries if isinstance(entries, list) else [entries]:
            if isinstance(entry, dict):
                yield str(entry.get("id", entry.get("name", "")))
                yield from _codecs(entry.get("configuration"))
            else:
                yield str(entry)
