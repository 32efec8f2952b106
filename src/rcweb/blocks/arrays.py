"""Arrays that are sliced by rows: in memory, memory-mapped, zarr, HDF5; dense or sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Sliced:
    """Anything with a shape and ``values[start:stop]``."""

    values: Any

    @property
    def shape(self) -> tuple[int, int]:
        return tuple(self.values.shape)

    def read(self, start: int, stop: int) -> Any:
        return self.values[start:stop]
