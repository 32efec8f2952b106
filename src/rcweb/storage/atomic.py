"""Atomic writes: a killed run leaves the old file or the new one, never half of one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TEMPORARY = ".rcweb-"  # how the names of files begin that are not whole yet


@contextmanager
def replacing(path: str | Path, *, overwrite: bool = True) -> Iterator[Path]:
    """A temporary sibling of `path` to write to; moved over it on success, removed on failure.

    It lies in the same folder, since a move is atomic only within a file system, and keeps the
    ending of `path`, since many writers choose their format by it. Without `overwrite` a file that
    somebody else wrote meanwhile is an error.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=TEMPORARY, suffix=path.suffix, dir=path.parent)
    # Writers open the path themselves; an open handle would block the move on Windows.
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        _sync(temporary)
        _set_usual_mode(temporary, path)
        if not overwrite:
            check_free(path)  # again: the file may have appeared while this one was written
        os.replace(temporary, path)
    finally:
        # After a successful move nothing is left to remove.
        temporary.unlink(missing_ok=True)


@contextmanager
def probing(path: Path) -> Iterator[Path]:
    """Yield a temporary folder beside `path`; raise ValueError if `path` cannot be written.

    The folder lies in the nearest existing parent. Trying is needed because the permissions that
    the system reports are not reliable.
    """
    place = next(folder for folder in path.absolute().parents if folder.exists())
    try:
        with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=place) as probe:
            yield Path(probe)
    except OSError as error:
        why = error.strerror or error
        raise ValueError(f"{path} cannot be written ({why}); name another place.") from None


def write_bytes(path: str | Path, content: bytes, *, overwrite: bool = True) -> None:
    """Write `content` to `path` atomically."""
    with replacing(path, overwrite=overwrite) as temporary:
        temporary.write_bytes(content)


def write_text(path: str | Path, text: str, *, overwrite: bool = True) -> None:
    """Write `text` to `path` atomically, as UTF-8; what UTF-8 cannot hold becomes "?"."""
    write_bytes(path, text.encode("utf-8", errors="replace"), overwrite=overwrite)


def check_free(path: str | Path) -> None:
    """Raise ValueError if anything exists at `path`, a broken link included."""
    if os.path.lexists(path):
        raise ValueError(f"{path} exists; name another file, or add --overwrite to replace it.")


def _sync(path: Path) -> None:
    """Bytes reach the disk before the name does, or a power cut could leave an empty file."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _set_usual_mode(temporary: Path, target: Path) -> None:
    """A temporary file is private; give it the mode of the file it replaces, or the usual one."""
    if target.exists():
        mode = target.stat().st_mode & 0o777
    else:
        # The mask can only be read by setting it.
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    temporary.chmod(mode)
