"""Tables on disk that are read in blocks instead of whole: files above a gigabyte, and zarr."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from rcweb.blocks.local import Local
from rcweb.blocks.recognise import OPENERS, open_blocks
from rcweb.storage.checksum import checksum
from rcweb.storage.errors import TableError
from rcweb.tables.orientation import Orientation
from rcweb.tables.read import ReadOptions

LARGE_BYTES = 1 << 30


@dataclass(frozen=True, eq=False)
class LargeTable:
    """A labelled table that stays on disk; samples are its rows.

    blocks : how it is read; samples, variables, sha256 : see `rcweb.tables.Table`
    """

    blocks: Local
    samples: tuple[str, ...]
    variables: tuple[str, ...]
    sha256: str

    way = Orientation(True, "the table is read in blocks of them")
    notes: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()
    logged = False

    n_missing = 0  # missing values are found when their block is read

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples and variables, (M, N)."""
        return self.blocks.shape


def open_large(path: str | Path, options: ReadOptions | None = None) -> LargeTable | None:
    """The table at `path` if it is too large to be read whole, else None."""
    path, options = Path(path), options or ReadOptions()
    kind = path.suffix.lower()
    if kind not in OPENERS or not path.exists():
        return None
    if path.is_file() and path.stat().st_size < LARGE_BYTES:
        return None
    if options.transpose or options.drop or options.log:
        raise TableError(
            f"{path.name} is read in blocks of samples; --transpose, --drop and --log work only "
            "for tables that are read whole. Change the file first."
        )
    try:
        blocks = open_blocks(path, layer=options.layer)
    except ValueError as error:
        raise TableError(f"{path.name}: {error}") from None
    M, N = blocks.shape
    names = blocks.names or tuple(f"x{j}" for j in range(N))
    return LargeTable(
        blocks=replace(blocks, names=names),
        samples=blocks.samples or tuple(f"sample{i}" for i in range(M)),
        variables=names,
        sha256=checksum(path) if path.is_file() else "",
    )
