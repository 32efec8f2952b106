"""How much memory there is, and sizes in words; without a package beyond the standard library."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)


def parse_size(text: str | int) -> int:
    """Bytes from a number or from words such as "4GB" (10^9 each) or "512MiB" (2^20 each)."""
    if isinstance(text, bool) or not isinstance(text, int | str):
        raise TypeError(f"a size is a number of bytes or text such as '4GB', not {text!r}.")
    match = _SIZE.fullmatch(str(text))
    if match is None:
        raise ValueError(f"{text!r} is no size; write bytes or a number with a unit, as in '4GB'.")
    number, unit, binary = match.groups()
    size = int(float(number) * (1024 if binary else 1000) ** _UNITS[unit.lower()])
    if size < 1:
        raise ValueError(f"a size must be larger than 0, not {text!r}.")
    return size


def show_size(n_bytes: float) -> str:
    """In words, two or three digits: ``1.3 GB``."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if n_bytes < 999.5 or unit == "TB":
            break
        n_bytes /= 1000
    return (
        f"{n_bytes:.0f} {unit}" if n_bytes >= 99.5 or unit == "bytes" else f"{n_bytes:.1f} {unit}"
    )


def available_memory(root: Path = Path("/")) -> int | None:
    """Bytes that this process may still take before the system or its container refuses.

    The least of: what the kernel calls available, what every control group around the process
    leaves (versions 1 and 2), and its own limit on address space. None if nothing is known.
    `root` : of the file system, for tests.
    """
    known = [*_kernel(root), *_groups(root), *_address_space(root)]
    # Physical pages ignore containers, so they count only where nothing better is known.
    if not known:
        known = list(_pages())
    return max(0, min(known)) if known else None


def _kernel(root: Path) -> Iterator[int]:
    for line in _read(root / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) * 1024


def _groups(root: Path) -> Iterator[int]:
    """Limit less use, of the group of this process and all groups above it.

    Inside a container the path may not be visible; the top of the mount is then its own group.
    """
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            top, names = root / "sys/fs/cgroup", ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            top = root / "sys/fs/cgroup/memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        parts = [part for part in path.split("/") if part not in ("", "..")]
        # Every group above may have a smaller limit.
        for depth in range(len(parts), -1, -1):
            yield from _left_in_group(top.joinpath(*parts[:depth]), *names)


def _left_in_group(folder: Path, limit_name: str, use_name: str, cache_name: str) -> Iterator[int]:
    limit, use = _read(folder / limit_name).strip(), _read(folder / use_name).strip()
    if not (limit.isdecimal() and use.isdecimal()):  # "max", or no such group
        return
    cache = 0  # pages of files, which the kernel gives back when asked
    for line in _read(folder / "memory.stat").splitlines():
        name, _, value = line.partition(" ")
        if name == cache_name and value.isdecimal():
            cache = int(value)
    yield int(limit) - int(use) + cache


def _address_space(root: Path) -> Iterator[int]:
    if sys.platform == "win32":
        return
    import resource

    # Batch systems often limit the address space of a job.
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = _read(root / "proc/self/statm").split()
    if soft != resource.RLIM_INFINITY:
        used = int(pages[0]) * os.sysconf("SC_PAGE_SIZE") if pages else 0
        yield soft - used


def _pages() -> Iterator[int]:
    """Where there is no /proc: free pages, or else all there are."""
    for name in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES"):
        if name in getattr(os, "sysconf_names", {}):
            yield os.sysconf(name) * os.sysconf("SC_PAGE_SIZE")
            return


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
