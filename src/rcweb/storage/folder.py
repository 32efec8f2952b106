"""A folder of results, replaced as a whole: a killed run leaves the old one or the new one."""

from __future__ import annotations

import ctypes
import glob
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_STALE = 24 * 3600.0  # seconds


@contextmanager
def replacing_folder(
    path: str | Path, owned: Collection[str], *, keep: bool = False
) -> Iterator[Path]:
    """A temporary sibling folder to write to; on success it takes the place of `path`.

    `owned` are the names that may stand in `path` already; a folder that holds anything else is
    refused, since replacing it would destroy the user's files. `keep` starts from a copy of what
    is there. On Linux the exchange is one step; elsewhere there are two renames.
    """
    path = Path(path).resolve()
    check_replaceable(path, owned)
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(path)
    staging = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent))
    try:
        if keep and path.exists():
            shutil.copytree(path, staging, dirs_exist_ok=True)
        yield staging
        mask = os.umask(0)
        os.umask(mask)
        staging.chmod(0o777 & ~mask)
        _exchange(staging, path)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _remove_leftovers(path: Path) -> None:
    """Half-written siblings of runs that were killed; a day old, so that no run is disturbed."""
    for old in path.parent.glob(f".{glob.escape(path.name)}.*.partial"):
        if time.time() - old.stat().st_mtime > _STALE:
            shutil.rmtree(old, ignore_errors=True)


def check_replaceable(path: str | Path, owned: Collection[str]) -> None:
    """Raise ValueError if `path` is not a folder of our own results, an empty one, or nothing."""
    path = Path(path).resolve()
    if path.exists() and not path.is_dir():
        raise ValueError(f"{path} is a file; name a folder for the results.")
    if path == Path.cwd():
        raise ValueError(f"{path} is the current folder; name one inside it, such as results.")
    foreign = sorted(set(os.listdir(path)) - set(owned)) if path.exists() else []
    if foreign:
        raise ValueError(
            f"{path} holds files that rcweb did not write ({', '.join(foreign[:3])}); "
            "name another folder for the results."
        )


def _exchange(new: Path, old: Path) -> None:
    """Put `new` in the place of `old`; afterwards `new` is what is to be removed."""
    if not old.exists():
        os.rename(new, old)
    elif not _swap(new, old):
        aside = Path(tempfile.mkdtemp(prefix=f".{old.name}.", suffix=".old", dir=old.parent))
        os.rename(old, aside / "old")
        os.rename(new, old)
        shutil.rmtree(aside, ignore_errors=True)


def _swap(a: Path, b: Path) -> bool:
    """Exchange two folders in one step; False where the system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    renameat2 = getattr(ctypes.CDLL(None), "renameat2", None)
    if renameat2 is None:
        return False
    arguments = (_AT_FDCWD, os.fsencode(a), _AT_FDCWD, os.fsencode(b), _RENAME_EXCHANGE)
    return bool(renameat2(*arguments) == 0)
