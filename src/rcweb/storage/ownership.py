"""Which files of a folder rcweb wrote: its record holds their checksums. All others are the user's.

Nothing here writes. A file counts as ours only while its bytes are the ones rcweb wrote.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from rcweb.storage.checksum import checksum
from rcweb.storage.errors import reason
from rcweb.storage.provenance import RECORD, is_unchanged, read_provenance

WAY_OUT = "name another folder for the results, or add --overwrite to replace such files."


def kept_files(path: Path, names: Collection[str], *, overwrite: bool = False) -> list[str]:
    """The user's files in `path`, which stay there when our `names` are replaced.

    Raises ValueError if replacing `names` would destroy anything but unchanged files of ours.
    `overwrite` permits to replace files, never folders and links.
    """
    if not path.exists():
        return []
    found = set(os.listdir(path))
    for name in sorted(found):
        check_regular(path / name)
    # Links and folders were refused above, even with --overwrite.
    if not overwrite:
        _check_unchanged(path, sorted(found & set(names)))
    return sorted(found - set(names))


def check_regular(path: Path) -> None:
    """Raise ValueError if `path`, inside a result folder, is there and not a plain file.

    A link could lead to any file of whoever opens the folder, and a device never ends.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        kind = "link" if stat.S_ISLNK(mode) else "folder" if stat.S_ISDIR(mode) else "device"
        raise ValueError(
            f"{path} is a {kind}; a folder of results may hold files only. "
            "Move it away, or name another folder."
        )


def check_apart(out: Path, inputs: Iterable[Path]) -> None:
    """Raise ValueError if an input lies in `out`, or `out` in an input that is a folder."""
    for path in inputs:
        pairs = (("input", path, "output", out), ("output", out, "input", path))
        for part, inner, whole, outer in pairs:
            place = inner.resolve()
            # Compare files, not names: links and case-insensitive systems give one folder many
            # names.
            if any(_same(folder, outer) for folder in (place, *place.parents)):
                raise ValueError(
                    f"The {part} {inner} is part of the {whole} {outer}; name another output."
                )


def described(path: Path) -> dict[str, Any]:
    """What the record says about a file."""
    return {"size": path.stat().st_size, "sha256": checksum(path)}


def _check_unchanged(path: Path, names: list[str]) -> None:
    recorded = _recorded(path) if RECORD in names else {}
    for name in names:
        if name != RECORD and name not in recorded:
            raise ValueError(f"rcweb did not write {path / name}: {WAY_OUT}")
        if name != RECORD and not _is_as(path / name, recorded[name]):
            raise ValueError(f"{path / name} was changed after rcweb wrote it: {WAY_OUT}")


def _recorded(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """The files whose checksums the record in `path` holds."""
    try:
        text, record = read_provenance(path)
    except ValueError as error:
        raise ValueError(
            f"rcweb did not write {path / RECORD} ({reason(error)}): {WAY_OUT}"
        ) from None
    if "files" not in record:
        raise ValueError(
            f"{path / RECORD} has no checksums of files (an earlier version of rcweb wrote it), "
            f"so changes cannot be detected: {WAY_OUT}"
        )
    # An edited record could claim any file as ours.
    if not is_unchanged(text, record):
        raise ValueError(f"{path / RECORD} was changed after rcweb wrote it: {WAY_OUT}")
    files: dict[str, dict[str, Any]] = record["files"]
    return files


def _is_as(path: Path, facts: Mapping[str, Any]) -> bool:
    # The size first: it costs nothing, and often shows a change without reading a large file.
    return path.stat().st_size == facts.get("size") and checksum(path) == facts.get("sha256")


def _same(a: Path, b: Path) -> bool:
    """Whether both are the same file, also where upper and lower case are."""
    return a.exists() and b.exists() and os.path.samefile(a, b)
