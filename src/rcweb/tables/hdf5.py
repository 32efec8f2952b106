"""Check the sizes and links of an HDF5 file before its data are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rcweb.storage.errors import TableError
from rcweb.storage.limits import check_fits


def check_hdf5(path: Path, *, fits: bool = True) -> None:
    """Raise for a file that refers to other files, or (`fits`) would not fit in memory.

    A dataset of a few bytes may have any shape, filled with a constant. Links, virtual datasets and
    external storage could read other files of the user.
    """
    import h5py

    with h5py.File(path, "r") as file:
        total = _visit(file, "/")
    if fits:
        check_fits(total, "its arrays")


def _visit(root: Any, name: str) -> int:
    """Bytes of all datasets; every object once, since links can make a circle."""
    import h5py

    total, seen, groups = 0, set(), [root]
    # Ends: every object is visited once.
    while groups:
        group = groups.pop()
        for key in group:
            link = group.get(key, getlink=True)
            if isinstance(link, h5py.ExternalLink):
                raise TableError(f"{key[:60]!r} is a link to another file, {link.filename[:60]!r}.")
            # A soft link leads to an object of the same file, which is visited anyway.
            if isinstance(link, h5py.SoftLink):
                continue
            item = group[key]
            identity = h5py.h5o.get_info(item.id).addr
            if identity in seen:
                continue
            seen.add(identity)
            if isinstance(item, h5py.Group):
                groups.append(item)
            elif isinstance(item, h5py.Dataset):
                if item.is_virtual or item.external:
                    raise TableError(f"{key[:60]!r} is stored in another file.")
                total += (item.size or 0) * item.dtype.itemsize
    return total
