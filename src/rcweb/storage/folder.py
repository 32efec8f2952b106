"""A folder of results, replaced as a whole: a killed run leaves the old one or the new one.

Files of the user's in it are kept: they are hard links in the old and in the new folder, until the
old one is removed. They exist at every moment, even if a run is killed.
"""

from __future__ import annotations

import ctypes
import glob
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from rcweb.storage.atomic import TEMPORARY, probing
from rcweb.storage.ownership import check_apart, described, kept_files
from rcweb.storage.provenance import RECORD, provenance_text, sealed

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
# No run is expected to write its results for a day; conventional.
_STALE = 24 * 3600.0  # seconds


def check_folder(
    path: str | Path,
    names: Collection[str],
    *,
    inputs: Iterable[Path] = (),
    overwrite: bool = False,
) -> None:
    """Raise ValueError if `replacing_folder` could not write to `path`; asked before the work.

    `names` are all files that may be written, `inputs` the files that are read.
    """
    path = Path(path).resolve()
    if path.exists() and not path.is_dir():
        raise ValueError(f"{path} is a file; name a folder for the results.")
    if os.path.ismount(path):
        raise ValueError(f"{path} is a mount point; name a folder inside it.")
    if Path.cwd().is_relative_to(path):
        raise ValueError(f"{path} is the current folder or holds it; name one inside it.")
    check_apart(path, inputs)
    kept = kept_files(path, names, overwrite=overwrite)
    with probing(path) as probe:
        # Hard links fail on some file systems: better now than after the fit.
        _link(path, probe, kept)


@contextmanager
def replacing_folder(
    path: str | Path,
    names: Collection[str],
    record: Mapping[str, Any],
    *,
    keep: Collection[str] = (),
    overwrite: bool = False,
) -> Iterator[Path]:
    """A temporary sibling folder to write to; on success it takes the place of `path`.

    `record` is written as provenance.json, with the checksum of every file. Files
    of an earlier run that are in `keep` stay unless they are written again.
    See `check_folder` for what is refused. If that comes up only at the end, since somebody else
    wrote to `path` meanwhile, the new result is left beside it and the error says where.
    """
    path = Path(path).resolve()
    kept_files(path, names, overwrite=overwrite)
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(path, names)
    staging = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent))
    try:
        yield staging
        _link(path, staging, [n for n in keep if _is_new(path / n, staging / n)])
        files = {file.name: described(file) for file in sorted(staging.iterdir())}
        text = provenance_text(sealed(record, files))
        (staging / RECORD).write_text(text, encoding="utf-8", newline="")
        _set_usual_mode(staging)
        try:
            _commit(staging, path, names, overwrite)
        except (OSError, ValueError) as error:
            # Hours of work may be in the staging folder: keep it under a free name.
            beside = _rename_to_free(staging, path)
            why = str(error).replace(str(staging), str(path)).rstrip(".")
            raise ValueError(f"{why}. The new result is in {beside}.") from None
    finally:
        _discard(staging, names)


@contextmanager
def new_folder(path: str | Path) -> Iterator[Path]:
    """A temporary sibling folder to write to; on success it is renamed to `path`, which is free."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=TEMPORARY, suffix=path.suffix, dir=path.parent))
    try:
        yield temporary
        _set_usual_mode(temporary)
        os.rename(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _set_usual_mode(folder: Path) -> None:
    """A temporary folder is private; results are not."""
    mask = os.umask(0)
    os.umask(mask)
    folder.chmod(0o777 & ~mask)


def _commit(staging: Path, path: Path, names: Collection[str], overwrite: bool) -> None:
    """Put the new folder in the place of the old one, unless that would destroy anything."""
    if not path.exists():
        os.rename(staging, path)
        return
    _link(path, staging, kept_files(path, names, overwrite=overwrite))
    _exchange(staging, path)
    # The old folder has no public name any more: check now for files added at the last moment.
    try:
        _link(staging, path, kept_files(staging, names, overwrite=overwrite))
    except (OSError, ValueError):
        _exchange(staging, path)  # undo: the user's folder gets its name back
        raise


def _link(source: Path, target: Path, names: Iterable[str]) -> None:
    """Make the files of `source` files of `target` as well: the same ones, not copies."""
    for name in names:
        old, new = source / name, target / name
        if not (new.exists() and os.path.samefile(old, new)):
            # A hard link, not a copy: no moment in which the file exists in neither folder.
            new.unlink(missing_ok=True)
            os.link(old, new)


def _is_new(old: Path, new: Path) -> bool:
    return old.exists() and not new.exists()


def _remove_leftovers(path: Path, names: Collection[str]) -> None:
    """Half-written siblings of runs that were killed; a day old, so that no run is disturbed."""
    for old in path.parent.glob(f".{glob.escape(path.name)}.*.partial/"):
        if time.time() - old.stat().st_mtime > _STALE:
            _discard(old, names)


def _discard(folder: Path, names: Collection[str]) -> None:
    """Remove a temporary folder, unless it may hold the only copy of a file of the user's."""
    if folder.exists() and all(_is_spare(file, names) for file in folder.iterdir()):
        shutil.rmtree(folder, ignore_errors=True)


def _is_spare(file: Path, names: Collection[str]) -> bool:
    ours = file.name in names or file.name.startswith(TEMPORARY)
    return file.is_file() and (ours or file.lstat().st_nlink > 1)


def _rename_to_free(staging: Path, path: Path) -> Path:
    """Rename `staging` to the first of ``path-2``, ``path-3`` ... that is free.

    Files of the user's that were linked to it stay in `path` alone.
    """
    for file in staging.iterdir():
        if (path / file.name).exists() and os.path.samefile(file, path / file.name):
            file.unlink()
    # Ends at the first free number; a folder holds finitely many names.
    for number in count(2):
        free = path.with_name(f"{path.name}-{number}")
        if not os.path.lexists(free):
            break
    os.rename(staging, free)
    return free


def _exchange(a: Path, b: Path) -> None:
    """Exchange two folders: in one step on Linux, elsewhere by renames."""
    # Three renames: a kill in between leaves the old folder in `.NAME.*.old`.
    if not _swap(a, b):
        aside = Path(tempfile.mkdtemp(prefix=f".{b.name}.", suffix=".old", dir=b.parent))
        os.rename(b, aside / "old")
        os.rename(a, b)
        os.rename(aside / "old", a)
        aside.rmdir()


def _swap(a: Path, b: Path) -> bool:
    """Exchange two folders in one step; False where the system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    renameat2 = getattr(ctypes.CDLL(None), "renameat2", None)
    if renameat2 is None:
        return False
    arguments = (_AT_FDCWD, os.fsencode(a), _AT_FDCWD, os.fsencode(b), _RENAME_EXCHANGE)
    return bool(renameat2(*arguments) == 0)
